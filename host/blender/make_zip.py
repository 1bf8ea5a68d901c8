"""Writes the add-on as a zip that Blender's preferences install: ``python make_zip.py [isocloth_addon.zip]``.

Blender 4.2 and later take it as an extension, earlier ones as an add-on.
"""

import pathlib
import sys
import zipfile


def make(path):
    """Writes the zip and returns its path."""
    source = pathlib.Path(__file__).parent / "isocloth_addon"
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for part in sorted([*source.glob("*.py"), *source.glob("*.toml")]):
            file.write(part, f"{source.name}/{part.name}")
        file.write(pathlib.Path(__file__).parents[2] / "LICENSE", f"{source.name}/LICENSE")
    return path


if __name__ == "__main__":
    print(make(sys.argv[1] if len(sys.argv) > 1 else "isocloth_addon.zip"))
