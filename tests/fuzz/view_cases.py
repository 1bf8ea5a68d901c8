"""Messages of pages to the door of the viewer: what it lets in, viser's own messages can be made of."""

import copy
import math

EXPECTED = ()
_ODD = (None, True, -1, 0, 1, 10**18, 2**63, 1e300, math.nan, math.inf, -math.inf, "", "x", "\0", "é\n",
        "/../../x.mp4", b"x", [], {},
        [1, 2, 3], [math.nan] * 3, [[1]], {"value": 1}, "x" * 5000, [0.0] * 1000, "start", "plain")
_PROPERTIES = ("value", "min", "max", "options", "removed", "update_cb", "props", "uuid", "gui_api", "label",
               "__class__")


def _odd(choice):
    return copy.deepcopy(choice.choice(_ODD))


class _Impl:
    def __init__(self, uuid):
        self.uuid = uuid


class _Handle:
    def __init__(self, label, uuid):
        self.label, self._impl = label, _Impl(uuid)


def run(_kind, choice, _root):
    import isocloth
    import msgspec
    from isocloth._door import Choice, Door, Flag, Number
    from python_fuzz import Bad
    from viser._messages import Message

    door = Door(lambda text: None)
    kinds = {"speed": Number(0.1, 4), "film": Choice("mp4", "webm"), "box": Flag()}
    for name, kind in kinds.items():
        door.add(_Handle(name, name), kind)
    camera = {"type": "ViewerCameraMessage", "wxyz": [1.0, 0.0, 0.0, 0.0], "position": [0.0, -1.0, 0.5], "fov": 1.0,
              "near": 0.01,
              "far": 100.0, "look_at": [0.0, 0.0, 0.0], "up_direction": [0.0, 0.0, 1.0], "image_height": 480,
              "image_width": 640}
    drag = {"type": "SceneNodeDragMessage", "phase": "start", "name": "/cloth", "instance_index": None,
            "start_position": [0.1, 0.1, 0.0], "start_screen_pos": [0.5, 0.5], "end_position": [0.1, 0.1, 0.0],
            "end_screen_pos": [0.5, 0.5], "button": "left", "modifier": None}
    update = {"type": "GuiUpdateMessage", "uuid": choice.choice([*kinds, "nosuch"]),
              "updates": {"value": choice.choice((1.0, "mp4", True))}}
    message = copy.deepcopy(choice.choice((camera, drag, update, update)))
    for _ in range(choice.choice((0, 1, 1, 2, 3))):
        key = choice.choice([*message, "owner"])
        way = choice.randrange(5)
        if way == 0:
            message.pop(key, None)
        elif way == 1 and isinstance(message.get(key), list) and message[key]:
            message[key][choice.randrange(len(message[key]))] = _odd(choice)
        elif way == 2 and "updates" in message:
            message["updates"] = {choice.choice(_PROPERTIES): _odd(choice) for _ in range(choice.choice((0, 1,
                                                                                                                1, 2)))}
        elif key != "type" or choice.random() < 0.2:
            message[key] = _odd(choice)
    raw = msgspec.msgpack.encode(message)
    if choice.random() < 0.2:
        from import_cases import _damage_bytes

        raw = _damage_bytes(raw, choice)
    try:
        door.check(raw)
    except isocloth.Error as error:
        if not str(error).isascii() or len(str(error)) > 400:
            raise Bad(f"a message that is long, or no text for a page: {error}") from None
        raise
    made = Message.deserialize(raw)
    for values in vars(made).values():
        for value in values if isinstance(values, (tuple, list)) else [values]:
            if isinstance(value, float) and not math.isfinite(value):
                raise Bad(f"let in what is not finite: {message}")
    if type(made).__name__ == "GuiUpdateMessage":
        [(name, value)] = made.updates.items()
        own = {"speed": lambda: 0.1 <= value <= 4 and not isinstance(value, bool), "film": lambda: value in ("mp4",
                                                                                                             "webm"),
               "box": lambda: isinstance(value, bool)}
        if name != "value" or not own[made.uuid]():
            raise Bad(f"let in {message}")
    return "done"
