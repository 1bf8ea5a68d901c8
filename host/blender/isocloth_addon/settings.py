"""What the user sets: of objects, of the scene, and of the add-on."""

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from .scene_file import PRESETS

_ROLES = (("NONE", "Nothing", "The engine does not see it"),
          ("CLOTH", "Cloth", "Its vertices move: a mesh as it lies in the first frame, without its modifiers"),
          ("BODY", "Body", "Cloth meets it, at rest or as its animation moves and deforms it"),
          ("PATTERN", "Pattern", "A curve object whose closed curves are panels of a garment"))


class Seam(bpy.types.PropertyGroup):
    """Two edges that are sewn together; curves and edges are counted from 0."""

    curve: IntProperty(min=0)
    edge: IntProperty(min=0)
    other_curve: IntProperty(min=0)
    other_edge: IntProperty(min=0)


class Point(bpy.types.PropertyGroup):
    """A control point that stays where it is; curves and points are counted from 0."""

    curve: IntProperty(min=0)
    point: IntProperty(min=0)


class ObjectSettings(bpy.types.PropertyGroup):
    role: EnumProperty(name="Is", items=_ROLES, description="What the object is for the engine")
    preset: EnumProperty(name="Fabric", items=[(name.upper(), name.capitalize(), "") for name in PRESETS],
                         default="COTTON", description="Mass, stiffness and damping of a kind of cloth")
    thickness: FloatProperty(name="Thickness [m]", default=0.001, min=0, soft_max=0.01, precision=4, step=0.01,
                             description="Distance that cloth keeps from cloth, at most half of the shortest edge; "
                             "0: that of the fabric")
    pressure: FloatProperty(name="Pressure [Pa]", default=0, description="Behind the faces")
    pinned: StringProperty(name="Pinned", description="Vertex group whose vertices, of a weight of half or more, stay "
                           "or move as animation, armature and other deforming modifiers have them")
    use_uvs: BoolProperty(name="Grain by UV map", description="Warp runs along u; else along x of flat meshes")
    friction: FloatProperty(name="Friction", default=0.3, min=0, soft_max=1, description="Coefficient, with cloth")
    edge_length: FloatProperty(name="Edge length [m]", default=0.02, min=1e-4, unit="NONE", precision=3,
                               description="Of the mesh of the panels, about")
    seams: CollectionProperty(type=Seam)
    points: CollectionProperty(type=Point)
    result: PointerProperty(type=bpy.types.Object, name="Result", description="Mesh of the garment that was sewn")


class SceneSettings(bpy.types.PropertyGroup):
    steps: IntProperty(name="Steps per frame", default=4, min=1, soft_max=20, description="Time steps of the engine")
    last_frame: IntProperty(name="Simulate to", default=0, min=0,
                            description="Last frame of a run; 0: that of the scene. More later: Continue")
    meets_itself: BoolProperty(name="Cloth meets cloth", default=True, description="And itself; costs time")
    friction: FloatProperty(name="Friction", default=0.3, min=0, soft_max=1, description="Of cloth with cloth")
    threads: IntProperty(name="Threads", default=0, min=0, max=1024, description="0: all cores")
    folder: StringProperty(name="Folder", default="//isocloth", subtype="DIR_PATH",
                           description="For scene, result and caches")


class Preferences(bpy.types.AddonPreferences):
    bl_idname = __package__

    command: StringProperty(name="Command isocloth", subtype="FILE_PATH",
                            description="Empty: the package isocloth of Blender's Python, or the command on the path")

    def draw(self, _context):
        self.layout.prop(self, "command")


CLASSES = (Seam, Point, ObjectSettings, SceneSettings, Preferences)


def chosen_command(context):
    """Path of the command in the preferences, or nothing."""
    addon = context.preferences.addons.get(__package__)
    return bpy.path.abspath(addon.preferences.command) if addon and addon.preferences else ""
