"""What comes from a page over its socket, before anything else sees it.

A page is a program of a stranger: what it sends is let in if it is one of the messages that the page of the viewer
sends, and each value in it is of the type, in the range and of the choices of the control that it is for. The rest is
told to the viewer and dropped.
"""

import math

from ._arguments import shown
from ._library import library
from .errors import Error

MOST_BYTES = 1 << 20  # of a message; those of the page have some hundred
_FARTHEST = 1e6  # [m], of what a camera and a pointer can be at
_LONGEST = 200  # characters of a text
_MOST_PARTS = 16  # of a list


class Number:
    """A finite number from ``low`` to ``high``."""

    def __init__(self, low, high, of=(int, float)):
        self.low, self.high, self.of = low, high, of

    def check(self, value):
        """Raises an Error for what is no such value."""
        # Comparisons are those of Python: exact for integers of any size, and false for NaN.
        if isinstance(value, bool) or not isinstance(value, self.of) or not self.low <= value <= self.high:
            kind = "an integer" if self.of is int else "a number"
            raise Error(f"found {shown(value)}, expected {kind} from {self.low:g} to {self.high:g}")


class Choice:
    """One of some texts, or None where it is one of them."""

    def __init__(self, *options):
        self.options = options

    def check(self, value):
        if not (value is None or isinstance(value, str)) or value not in self.options:
            raise Error(f"found {shown(value)}, expected one of {', '.join(map(str, self.options))}")


class Flag:
    """True or false."""

    def check(self, value):
        if not isinstance(value, bool):
            raise Error(f"found {shown(value)}, expected true or false")


class Vector:
    """``count`` numbers, of which one at least is not zero if ``is_direction``."""

    def __init__(self, count, most=_FARTHEST, is_direction=False):
        self.count, self.number, self.is_direction = count, Number(-most, most), is_direction

    def check(self, value):
        if not isinstance(value, (list, tuple)) or len(value) != self.count:
            raise Error(f"found {shown(value)}, expected {self.count} numbers")
        for part in value:
            self.number.check(part)
        if self.is_direction and math.hypot(*value) < 1e-6:
            raise Error(f"found {shown(value)}, expected a direction")


class Tame:
    """Whatever is harmless: a finite number, a flag, a short text, nothing, or a few of these."""

    def check(self, value, depth=0):
        if value is None or isinstance(value, bool):
            return
        if isinstance(value, (int, float)):
            Number(-1e9, 1e9).check(value)
        elif isinstance(value, str):
            if len(value) > _LONGEST or not value.isprintable():
                raise Error(f"found {shown(value)}, expected at most {_LONGEST} characters that can be printed")
        elif isinstance(value, (list, tuple)) and len(value) <= _MOST_PARTS and depth < 2:
            for part in value:
                self.check(part, depth + 1)
        else:
            raise Error(f"found {shown(value)}, expected a number, a text or a few of them")


def require(name, value, kind):
    """Raises an Error that begins with a name for what is no value of a kind."""
    try:
        kind.check(value)
    except Error as error:
        raise Error(f"{name}: {error}") from None


_KEYS = (None, "cmd/ctrl", "alt", "shift", "cmd/ctrl+alt", "cmd/ctrl+shift", "alt+shift", "cmd/ctrl+alt+shift")
_SCREEN, _SIZE = Vector(2), Number(1, 65535, int)

#: Of each message that the page sends, its fields; what newer pages say besides is :class:`Tame`.
MESSAGES = {
    "GuiUpdateMessage": {"uuid": Tame()},  # and ``updates``, by the control
    "ViewerCameraMessage": {
        "wxyz": Vector(4, 1.001, is_direction=True), "position": Vector(3), "look_at": Vector(3),
        "up_direction": Vector(3, is_direction=True), "fov": Number(0.001, 3.14), "near": Number(0, 1e9),
        "far": Number(0, 1e9), "image_height": _SIZE, "image_width": _SIZE},
    "SceneNodeDragMessage": {
        "phase": Choice("start", "update", "end"), "name": Tame(), "instance_index": Choice(None),
        "start_position": Vector(3), "end_position": Vector(3), "start_screen_pos": _SCREEN,
        "end_screen_pos": _SCREEN, "button": Choice("left", "middle", "right"), "modifier": Choice(*_KEYS)},
}
_NAMED = {"name", "owner", "uuid"}  # texts


class Door:
    """Through which all that comes from the pages goes. told: called with the message of an Error for what is
    refused, from the thread of the socket."""

    def __init__(self, told):
        self._told, self._controls = told, {}
        self._decode = library("msgspec.msgpack", "viser").decode
        messages = library("viser._messages", "viser")
        self._fields = {kind: set(getattr(messages, kind).__dataclass_fields__) for kind in MESSAGES}

    def add(self, handle, kind):
        """Lets values of a kind in for a handle of viser, and returns the handle."""
        self._controls[handle._impl.uuid] = (handle, kind)
        return handle

    def knows(self, handle):
        """Whether values for a handle are let in."""
        return handle._impl.uuid in self._controls

    def check(self, raw):
        """Raises an Error for bytes that are not to be let in."""
        if not isinstance(raw, bytes):
            raise Error("found text, expected a message of the page")
        try:
            message = self._decode(raw)
        except Exception:  # whatever a decoder makes of bytes of a stranger
            raise Error("found bytes that are no message") from None
        kind = message.get("type") if isinstance(message, dict) else None
        fields = MESSAGES.get(kind) if isinstance(kind, str) else None
        if fields is None:
            raise Error(f"found the message {shown(kind)}, expected one of {', '.join(MESSAGES)}")
        for name in fields.keys() - message.keys():
            raise Error(f"{kind}: found no {name}")
        for name, value in message.items():
            if kind == "GuiUpdateMessage" and name == "updates":
                continue
            if not isinstance(name, str) or (name in _NAMED and not isinstance(value, str)):
                raise Error(f"{kind}: {shown(name)}: found {shown(value)}, expected a text")
            if name != "type" and name not in self._fields[kind]:
                raise Error(f"{kind}: {shown(name)}: found a field that viser does not know, expected none")
            require(f"{kind}: {shown(name)}", value, fields.get(name, _TAME))
        if kind == "GuiUpdateMessage":
            self._check_update(message)
        if kind == "ViewerCameraMessage" and math.dist(message["position"], message["look_at"]) < 1e-9:
            raise Error(f"{kind}: found a camera that looks at its own place {shown(message['position'])}")

    def _check_update(self, message):
        handle, kind = self._controls.get(message["uuid"], (None, None))
        if handle is None:
            raise Error(f"found a value for {shown(message['uuid'])}, expected one of the page's controls")
        updates = message.get("updates")
        if not isinstance(updates, dict) or list(updates) != ["value"]:
            raise Error(f"{handle.label}: found {shown(updates)}, expected a value alone")
        require(handle.label, updates["value"], kind)

    def guard(self, handler):
        """A handler of connections that sees of each what is let in."""
        async def guarded(connection):
            receive = connection.recv

            async def received(*arguments, **options):
                while True:
                    raw = await receive(*arguments, **options)
                    try:
                        self.check(raw)
                    except Exception as error:
                        self._told(str(error) or type(error).__name__)
                    else:
                        return raw

            connection.recv = received
            await handler(connection)

        return guarded


_TAME = Tame()
