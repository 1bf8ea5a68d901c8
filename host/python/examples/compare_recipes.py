"""One sheet by every recipe: python compare_recipes.py FOLDER, for a result of each and recipes.png.

A square metre of soft cloth hangs from two corners that come nearer; colours are the largest stretch of each element.
The numbers of the fabric are the same wherever a recipe has them, springs as stiff as threads. Needs vtk, h5py and
matplotlib.
"""

import pathlib
import sys
import warnings

import isocloth
import matplotlib.pyplot as plt

SPRINGS = {name: {"stiffness": stiffness, "damping": 0.01}
           for name, stiffness in (("structural_spring", 200), ("shear_spring", 20), ("bend_spring", 2))}
CLOTH = {"density": 0.2, "mass_damping": 0.3}
ELASTIC = {**CLOTH, "stretch_stiffness": 200, "shear_stiffness": 10, "bending_stiffness": 1e-4}
FABRICS = {"provot1995": {**CLOTH, **SPRINGS, "strain_limit": 0.1},
           "sakaguchi1991": {**CLOTH, **SPRINGS, "yield_strain": 0.1}}
PROJECTED = ["membrane", "soft_constraints", "corotational", "springs", "coltraro2022", "elastic_edges",
             "inextensible_edges"]
RECIPES = [*PROJECTED[:5], "isometric_impulse", "provot1995", *PROJECTED[5:], "bender_iterative", "bender_sle",
           "sakaguchi1991", "terzopoulos1987", "terzopoulos1987_implicit"]


def corner(node, way):
    return {"select": {"nodes": [node]}, "motion": {"type": "keyframes", "times": [0, 0.5],
                                                    "translations": [[0, 0, 0], [way, 0, 0]]}}


def scene(recipe):
    settings = {"on_violation": "continue"}
    solver = {"projection": {**settings, "max_substeps": 8}} if recipe in PROJECTED else {"impulse": settings}
    return {"step": 0.01, "duration": 3, "frame_interval": 0.05, "recipe": recipe, **solver,
            "garments": [{"mesh": {"generator": "quad_grid", "nodes": [17, 17], "size": [1, 1]},
                          "transform": {"rotation": [45, 0, 0]}, "fabric": FABRICS.get(recipe, ELASTIC),
                          "pins": [corner(272, 0.06), corner(288, -0.06)]}]}


def main():
    folder = pathlib.Path(sys.argv[1])
    warnings.simplefilter("ignore", isocloth.SceneWarning)  # keys that a recipe has no use for
    figure, axes = plt.subplots(2, 7, figsize=(17.5, 5.1))
    for place, recipe in zip(axes.flat, RECIPES):
        result = isocloth.run(scene(recipe), folder / recipe, overwrite=True, quiet=True)
        print(f"{recipe:25} edges {100 * result.summary['strain_max']:5.1f} %, elements "
              f"{100 * result.summary['stretch_max']:5.1f} %, {result.summary['steps_violated']} of 300 steps missed")
        picture = isocloth.render(result, folder / f"{recipe}.png", color="stretch", most=20, size=(560, 520),
                                  azimuth=-75, elevation=12)
        place.imshow(plt.imread(picture))
        place.set_title(recipe, fontsize=11, family="monospace")
        place.set_axis_off()
    figure.subplots_adjust(0, 0, 1, 0.95, 0, 0.06)
    figure.savefig(folder / "recipes.png", dpi=80)


if __name__ == "__main__":
    main()
