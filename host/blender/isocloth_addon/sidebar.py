"""The panel in the sidebar of the 3D view (N)."""

import bpy

from . import operators
from .collect import objects_of


class Sidebar(bpy.types.Panel):
    bl_idname, bl_label = "VIEW3D_PT_isocloth", "isocloth"
    bl_space_type, bl_region_type, bl_category = "VIEW_3D", "UI", "isocloth"

    def draw(self, context):
        layout = self.layout
        layout.use_property_decorate = False
        if context.object is not None:
            self._draw_object(layout.box(), context.object)
        self._draw_scene(layout, context.scene)
        self._draw_run(layout)
        column = layout.column(align=True)
        for operator in (operators.Bake, operators.Export, operators.Clear):
            column.operator(operator.bl_idname)

    def _draw_object(self, layout, obj):
        own = obj.isocloth
        layout.label(text=obj.name, icon="OBJECT_DATA")
        layout.prop(own, "role")
        if own.role == "BODY":
            layout.prop(own, "friction")
        elif own.role in ("CLOTH", "PATTERN"):
            layout.prop(own, "preset")
            layout.prop(own, "thickness")
            layout.prop(own, "pressure")
        if own.role == "CLOTH":
            layout.prop_search(own, "pinned", obj, "vertex_groups")
            layout.prop(own, "use_uvs")
        if own.role == "PATTERN":
            layout.prop(own, "edge_length")
            layout.label(text=f"Seams: {len(own.seams)}")
            for number, seam in enumerate(own.seams):
                row = layout.row()
                row.label(text=f"{seam.curve + 1}.{seam.edge + 1}  with  {seam.other_curve + 1}.{seam.other_edge + 1}")
                row.operator(operators.Unpick.bl_idname, text="", icon="X").number = number
            layout.operator(operators.Sew.bl_idname)
            layout.label(text=f"Pinned points: {len(own.points)}")
            layout.operator(operators.PinPoints.bl_idname)

    def _draw_scene(self, layout, scene):
        own = scene.isocloth
        column = layout.column()
        column.prop(own, "steps")
        column.prop(own, "last_frame")
        column.prop(own, "meets_itself")
        if own.meets_itself:
            column.prop(own, "friction")
        column.prop(own, "threads")
        column.prop(own, "folder")
        counts = [f"{name}: {len(objects_of(scene, role))}" for role, name in
                  (("CLOTH", "Cloths"), ("PATTERN", "patterns"), ("BODY", "bodies"))]
        column.label(text=", ".join(counts))

    def _draw_run(self, layout):
        run = operators.running
        if run is None:
            row = layout.row(align=True)
            row.operator(operators.Simulate.bl_idname).resume = False
            row.operator(operators.Simulate.bl_idname, text="Continue").resume = True
            return
        text = f"Frame {run.frames_done} of {run.frames}"
        if hasattr(layout, "progress"):  # since Blender 4.0
            layout.progress(factor=run.frames_done / run.frames, text=text)
        else:
            layout.label(text=text)
        layout.operator(operators.Cancel.bl_idname, icon="CANCEL")


CLASSES = (Sidebar,)
