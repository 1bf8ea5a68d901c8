"""isocloth in Blender: meshes, curves and bodies of a scene to the engine, and its result back as point caches."""

bl_info = {
    "name": "isocloth",
    "description": "Cloth that does not stretch",
    "author": "isocloth",
    "version": (0, 1, 0),
    "blender": (3, 4, 0),
    "location": "3D View > Sidebar > isocloth",
    "category": "Physics",
}

try:
    import bpy
except ImportError:  # what needs no Blender is tested without it
    bpy = None
else:
    from . import operators, settings, sidebar

    _CLASSES = (*settings.CLASSES, *operators.CLASSES, *sidebar.CLASSES)


def register():
    for each in _CLASSES:
        bpy.utils.register_class(each)
    bpy.types.Object.isocloth = bpy.props.PointerProperty(type=settings.ObjectSettings)
    bpy.types.Scene.isocloth = bpy.props.PointerProperty(type=settings.SceneSettings)


def unregister():
    if operators.running is not None:
        operators.running.kill()
    del bpy.types.Scene.isocloth, bpy.types.Object.isocloth
    for each in reversed(_CLASSES):
        bpy.utils.unregister_class(each)
