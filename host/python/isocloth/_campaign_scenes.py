"""The scenes of a campaign: what a seed changes in one, and copies that stand alone."""

import copy
import json
import math
import pathlib
import random
import shutil

from .errors import SceneError

_FABRIC = (("density", "gravity_density"), ("bending_stiffness", "weft_bending_stiffness"),
           ("stretch_stiffness", "weft_stretch_stiffness"), ("shear_stiffness",), ("mass_damping",),
           ("stiffness_damping",))
_STEPS = (0.5, 0.75, 1.0, 1.25, 1.5)


def read_scenes(paths):
    """Scenes by their names, in the order of these: of files, and of all ``*.json`` of folders that have garments.
    Files that they name are absolute. Raises SceneError where a file is none, or two scenes have one name."""
    scenes = {}
    for path in map(pathlib.Path, paths):
        if not path.exists():
            raise SceneError(f"{path}: No such file or folder, expected a scene or a folder of scenes")
        for file in sorted(path.glob("*.json")) if path.is_dir() else [path]:
            try:
                content = json.loads(file.read_text(encoding="utf-8"))
            except ValueError as error:
                raise SceneError(f"{file}: {error}, expected a scene") from None
            if not isinstance(content, dict) or "garments" not in content:
                if path.is_dir():
                    continue
                raise SceneError(f"{file}: found no garments, expected a scene")
            if file.stem in scenes:
                raise SceneError(f"{file}: found a second scene of the name {file.stem}, expected each name once")
            _each_file(content, lambda name, folder=file.parent: str((folder / name).absolute()))
            scenes[file.stem] = content
    if not scenes:
        raise SceneError(f"{', '.join(map(str, paths))}: found no scene, expected a file *.json with garments")
    return dict(sorted(scenes.items()))


def _each_file(value, rename):
    """Gives files that a scene names other names."""
    for key, member in value.items() if isinstance(value, dict) else enumerate(value):
        if key == "file" and isinstance(member, str):
            value[key] = rename(member)
        elif isinstance(member, (dict, list)):
            _each_file(member, rename)


def write_alone(scene, file):
    """Writes a scene with copies of the files that it names beside it, so that the folder may go anywhere."""
    scene, file = copy.deepcopy(scene), pathlib.Path(file)

    def copied(name):
        source = pathlib.Path(name)
        for part in [source] if source.exists() else source.parent.glob(source.name.replace("%04d", "[0-9]" * 4)):
            shutil.copyfile(part, file.with_name(f"{file.stem}.{part.name}"))
        return f"{file.stem}.{source.name}"

    _each_file(scene, copied)
    file.write_text(json.dumps(scene, indent=1) + "\n", encoding="utf-8")


def jittered(scene, seed, steps=None, contacts=False):
    """A scene as a seed has it, and what the seed changed, by key.

    Seed 0 changes nothing. Any other draws, each factor uniform in its logarithm:

    - the step: 0.5, 0.75, 1, 1.25 or 1.5 times as long;
    - the pace of all motions and of the whole scene, a factor of 1.25 up or down, and how far pins go, 0.9 to 1.1;
    - each number that the scene says of a fabric, a factor of 1.5, density and gravity_density alike; all thicknesses
      one factor of 1.1;
    - each pair of coefficients of friction, a factor of 1.5, and the wind, 1.25;
    - positions: noise of 0.01 to 0.1 mm along the normals of rest shapes but flat ones, and, where no pin or gripper
      says places, all garments up to 1 mm aside.

    steps: greatest number of them. contacts: ``contact.cloth`` where a scene does not say it, and cloth that has no
    thickness 1 mm thick. A step that misses its tolerance counts and the run goes on; a tenth of the frames are kept.
    """
    scene, changes = copy.deepcopy(scene), {}
    draw = random.Random(seed)

    def factor(key, spread):
        changes[key] = math.exp(draw.uniform(-math.log(spread), math.log(spread)))
        return changes[key]

    if contacts:
        _add_contacts(scene)
    step, duration = scene["step"], scene["duration"]
    if seed:
        changes["step"] = draw.choice(_STEPS)
        step *= changes["step"]
        pace = factor("pace", 1.25)
        duration *= pace
        _slow_down(scene, pace)
        _jitter_contacts(scene, factor)
        thickness = factor("thickness", 1.1)
        if "tolerance" in scene.get("contact", {}):
            scene["contact"]["tolerance"] *= min(1.0, thickness)  # at most a quarter of the thickness
        is_held = any(garment.get("pins") or garment.get("grippers") for garment in scene["garments"])
        aside = [0.0 if is_held else draw.uniform(-1e-3, 1e-3) for _ in range(2)]
        changes["aside"] = aside
        for i, garment in enumerate(scene["garments"]):
            _jitter_garment(garment, f"garments[{i}]", aside, seed, factor, draw, changes)
        if isinstance(scene.get("wind"), dict) and "velocity" in scene["wind"]:
            wind = factor("wind.velocity", 1.25)
            scene["wind"]["velocity"] = [wind * v for v in scene["wind"]["velocity"]]
    count = max(1, round(duration / step))
    count = min(count, steps or count)
    scene["step"], scene["duration"] = step, count * step
    scene["frame_interval"] = max(1, count // 10) * step
    for solver in {"projection", "impulse"} & set(scene) or {"projection"}:
        scene[solver] = {**scene.get(solver, {}), "on_violation": "continue"}
    return scene, changes


def _add_contacts(scene):
    contact = scene.setdefault("contact", {})
    contact.setdefault("cloth", True)
    for garment in scene["garments"] if contact["cloth"] else []:
        fabric = garment.setdefault("fabric", {})
        if not any(key in fabric for key in ("thickness", "preset", "file", "kes", "fast")):
            fabric["thickness"] = 1e-3


def _slow_down(value, pace):
    """All times of motions, holds and keyframes."""
    if isinstance(value, dict):
        for key, member in value.items():
            if key == "times":
                value[key] = _times(pace, member)
            elif key == "holds":
                value[key] = [{end: pace * time for end, time in hold.items()} for hold in member]
            elif value.get("type") == "oscillation" and key in ("start", "duration"):
                value[key] = pace * member
            elif value.get("type") == "oscillation" and key == "frequency":
                value[key] = member / pace
            else:
                _slow_down(member, pace)
    elif isinstance(value, list):
        for member in value:
            _slow_down(member, pace)


def _jitter_contacts(scene, factor):
    holders = {"contact.cloth_friction": scene.get("contact", {}).get("cloth_friction")}
    for what in ("obstacles", "bodies"):
        holders |= {f"{what}[{i}].friction": one.get("friction") for i, one in enumerate(scene.get(what, []))}
    holders |= {f"contact.pairs[{i}]": pair for i, pair in enumerate(scene.get("contact", {}).get("pairs", []))}
    for key, friction in holders.items():
        if isinstance(friction, dict) and "static" in friction:
            times = factor(key, 1.5)
            friction |= {name: times * friction[name] for name in ("static", "dynamic") if name in friction}


def _jitter_garment(garment, name, aside, seed, factor, draw, changes):
    fabric = garment.get("fabric", {})
    for keys in _FABRIC:
        if any(key in fabric for key in keys):
            times = factor(f"{name}.fabric.{keys[0]}", 1.5)
            fabric |= {key: times * fabric[key] for key in keys if key in fabric}
    if "thickness" in fabric:
        fabric["thickness"] *= changes["thickness"]
    for i, pin in enumerate(garment.get("pins", [])):
        motion = pin.get("motion", {})
        moved = [key for key in ("translations", "rotations_degrees", "amplitude") if key in motion]
        if moved:
            reach = changes[f"{name}.pins[{i}].reach"] = draw.uniform(0.9, 1.1)
            motion |= {key: _times(reach, motion[key]) for key in moved}
    if not {"panels", "uv_scale"} & set(garment["mesh"]):  # whose rest shapes are flat
        if "rest_noise" not in garment:
            deviation = changes[f"{name}.rest_noise"] = 10 ** draw.uniform(-5, -4)
            garment["rest_noise"] = {"normal_deviation": deviation}
        garment["rest_noise"]["seed"] = seed
    if any(aside):
        transform = garment.setdefault("transform", {})
        place = transform.get("translation", [0.0, 0.0, 0.0])
        transform["translation"] = [place[0] + aside[0], place[1] + aside[1], place[2]]


def _times(factor, value):
    return [_times(factor, member) for member in value] if isinstance(value, list) else factor * value
