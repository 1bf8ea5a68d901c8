"""What the user can do."""

import pathlib
import time

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

from . import engine
from .collect import Collected, folder_of, gravity_of, objects_of, timing_of
from .errors import AddonError
from .outlines import selected_edges
from .playback import Job, bake_to_keys, cache_of
from .scene_file import write_scene
from .settings import chosen_command

running = None  # the run that goes on, of all scenes


def _report(operator, error):
    operator.report({"ERROR"}, str(error))
    return {"CANCELLED"}


def _selections(obj):
    """Of each curve, whether its control points are selected."""
    return [[point.select_control_point for point in spline.bezier_points] if spline.type == "BEZIER"
            else [point.select for point in spline.points] for spline in obj.data.splines]


class SetRole(bpy.types.Operator):
    """Make the selected objects cloth, bodies, patterns or nothing"""

    bl_idname, bl_label, bl_options = "isocloth.set_role", "Use in isocloth", {"REGISTER", "UNDO"}

    role: EnumProperty(name="As", items=[(name, name.capitalize(), "")
                                         for name in ("CLOTH", "BODY", "PATTERN", "NONE")])

    @classmethod
    def poll(cls, context):
        return bool(context.selected_objects)

    def execute(self, context):
        wanted = {"CLOTH": ("MESH",), "PATTERN": ("CURVE",), "BODY": ("MESH", "CURVE", "SURFACE", "META", "FONT")}
        taken = [obj for obj in context.selected_objects if obj.type in wanted.get(self.role, (obj.type,))]
        for obj in taken:
            obj.isocloth.role = self.role
        if not taken:
            return _report(self, f"found no {' or '.join(wanted[self.role]).lower()} among what is selected")
        self.report({"INFO"}, f"{len(taken)} of {len(context.selected_objects)} objects")
        return {"FINISHED"}


class OfPattern:
    """An operator on a pattern in edit mode."""

    @classmethod
    def poll(cls, context):
        obj = context.object
        return obj is not None and obj.type == "CURVE" and obj.mode == "EDIT" and obj.isocloth.role == "PATTERN"


class Sew(OfPattern, bpy.types.Operator):
    """Sew two edges of the pattern together: select both ends of each"""

    bl_idname, bl_label, bl_options = "isocloth.sew", "Sew selected edges", {"REGISTER", "UNDO"}

    def execute(self, context):
        obj = context.object
        edges = selected_edges(_selections(obj))
        if len(edges) != 2:
            return _report(self, f"found {len(edges)} edges with both ends selected, expected 2")
        if any({(seam.curve, seam.edge), (seam.other_curve, seam.other_edge)} == set(edges)
               for seam in obj.isocloth.seams):
            return _report(self, "these edges are sewn already")
        seam = obj.isocloth.seams.add()
        (seam.curve, seam.edge), (seam.other_curve, seam.other_edge) = edges
        return {"FINISHED"}


class PinPoints(OfPattern, bpy.types.Operator):
    """Pin the selected control points of the pattern; if all of them are pinned, let them go"""

    bl_idname, bl_label, bl_options = "isocloth.pin_points", "Pin selected points", {"REGISTER", "UNDO"}

    def execute(self, context):
        own = context.object.isocloth
        chosen = {(number, k) for number, flags in enumerate(_selections(context.object))
                  for k, is_selected in enumerate(flags) if is_selected}
        if not chosen:
            return _report(self, "found no selected point, expected at least one")
        pinned = {(one.curve, one.point) for one in own.points}
        pinned = pinned - chosen if chosen <= pinned else pinned | chosen
        own.points.clear()
        for curve, point in sorted(pinned):
            one = own.points.add()
            one.curve, one.point = curve, point
        self.report({"INFO"}, f"{len(pinned)} points are pinned")
        return {"FINISHED"}


class Unpick(bpy.types.Operator):
    """Remove a seam"""

    bl_idname, bl_label, bl_options = "isocloth.unpick", "Unpick", {"REGISTER", "UNDO"}

    number: IntProperty(min=0)

    @classmethod
    def poll(cls, context):
        return context.object is not None and len(context.object.isocloth.seams) > 0

    def execute(self, context):
        context.object.isocloth.seams.remove(self.number)
        return {"FINISHED"}


class Simulate(bpy.types.Operator):
    """Simulate the cloth of the scene; Escape cancels, and what is done stays"""

    bl_idname, bl_label, bl_options = "isocloth.simulate", "Simulate", {"UNDO"}

    resume: BoolProperty(name="Continue", description="From the last frame that is there, with the same settings",
                         options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context):
        return running is None and context.mode == "OBJECT" and bool(
            objects_of(context.scene, "CLOTH") or objects_of(context.scene, "PATTERN"))

    @classmethod
    def description(cls, _context, properties):
        return ("Go on from the last frame of the result, with the same cloth and settings" if properties.resume
                else cls.__doc__)

    def _begin(self, context):
        global running
        scene = context.scene
        words = engine.find(chosen_command(context))
        timing = timing_of(scene)
        gravity, gravity_warning = gravity_of(scene)
        folder, folder_warning = folder_of(scene)
        for warning in filter(None, (gravity_warning, folder_warning)):
            self.report({"WARNING"}, warning)
        if self.resume and not (folder / "result").is_dir():
            raise AddonError(f"{folder}: found no result, expected one to continue; simulate first")
        collected = Collected(context, timing)
        own = scene.isocloth
        written = write_scene(folder, timing, collected.cloths, collected.bodies, collected.patterns, name=scene.name,
                              gravity=gravity, meets_itself=own.meets_itself, friction=own.friction)
        self._scene, self._job = scene.name, Job(scene, folder, collected, written)
        self._run = running = engine.Run(words, written.scene, folder / "result", timing.last, resume=self.resume,
                                         threads=own.threads)

    def _end(self, context, code):
        """Puts the result on the objects, and says how it went."""
        global running
        running = None
        said = self._run.said()
        scene = bpy.data.scenes.get(self._scene)
        if scene is None:
            raise AddonError("found no scene any more to show the result in")
        if code not in (engine.DONE, engine.MISSED, engine.INTERRUPTED):
            raise AddonError(said[-1] if said else f"the engine ended with {code}, and said nothing")
        frames = self._job.load(scene, self._run.result)
        for line in said:
            self.report({"WARNING"}, line)
        last = self._job.first_frame + frames - 1
        if code == engine.INTERRUPTED:
            self.report({"WARNING"}, f"stopped at frame {last}; Continue goes on")
        elif code == engine.MISSED:
            self.report({"WARNING"}, f"frame {last}: some steps missed their tolerance; more steps per frame, or see "
                        f"{self._run.result / 'report.html'}")
        else:
            self.report({"INFO"}, f"simulated to frame {last}")

    def execute(self, context):
        global running
        try:
            self._begin(context)
            try:
                while (code := self._run.wait(0.1)) is None:
                    pass
            except KeyboardInterrupt:
                self._run.cancel()
                code = self._run.wait(None)
            self._end(context, code)
        except (AddonError, OSError) as error:
            return _report(self, error)
        finally:
            if running is not None:
                running.kill()
            running = None
        return {"FINISHED"}

    def invoke(self, context, _event):
        try:
            self._begin(context)
        except (AddonError, OSError) as error:
            return _report(self, error)
        manager = context.window_manager
        self._timer = manager.event_timer_add(0.2, window=context.window)
        manager.progress_begin(0, self._run.frames)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type == "ESC" and event.value == "PRESS":
            self._run.cancel()
            return {"RUNNING_MODAL"}
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        context.window_manager.progress_update(self._run.frames_done)
        for area in context.window.screen.areas if context.window else ():
            if area.type in ("VIEW_3D", "PROPERTIES"):
                area.tag_redraw()
        code = self._run.wait(0)
        if code is None:
            return {"PASS_THROUGH"}
        self.cancel(context)
        try:
            self._end(context, code)
        except (AddonError, OSError) as error:
            return _report(self, error)
        return {"FINISHED"}

    def cancel(self, context):
        """Also where Blender ends or loads another file while it runs."""
        global running
        self._run.kill()
        running = None
        context.window_manager.progress_end()
        context.window_manager.event_timer_remove(self._timer)


class Cancel(bpy.types.Operator):
    """End the run; what is done stays, and can be continued"""

    bl_idname, bl_label = "isocloth.cancel", "Cancel"

    @classmethod
    def poll(cls, _context):
        return running is not None

    def execute(self, _context):
        running.cancel()
        return {"FINISHED"}


def _cached(context):
    return [obj for obj in context.selected_objects if cache_of(obj) is not None]


class Bake(bpy.types.Operator):
    """Make the result of the selected objects shape keys, one for each frame, which need no file beside the .blend"""

    bl_idname, bl_label, bl_options = "isocloth.bake", "Bake to shape keys", {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return context.mode == "OBJECT" and bool(_cached(context))

    def execute(self, context):
        try:
            counts = [bake_to_keys(obj) for obj in _cached(context)]
        except (AddonError, OSError) as error:
            return _report(self, error)
        self.report({"INFO"}, f"{sum(counts)} shape keys on {len(counts)} objects")
        return {"FINISHED"}


class Export(bpy.types.Operator):
    """Write the selected objects with their result as Alembic, for other programs"""

    bl_idname, bl_label = "isocloth.export", "Export Alembic"

    filepath: StringProperty(subtype="FILE_PATH")
    filter_glob: StringProperty(default="*.abc", options={"HIDDEN"})

    @classmethod
    def poll(cls, context):
        return context.mode == "OBJECT" and bool(_cached(context)) and bpy.app.build_options.alembic

    def invoke(self, context, _event):
        try:
            self.filepath = str(folder_of(context.scene)[0] / "cloth.abc")
        except AddonError as error:
            return _report(self, error)
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context):
        if not self.filepath:
            return _report(self, "found no file, expected one to write")
        path = pathlib.Path(bpy.path.abspath(self.filepath)).with_suffix(".abc")
        scene, before = context.scene, time.time()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            bpy.ops.wm.alembic_export(filepath=str(path), selected=True, start=scene.frame_start, end=scene.frame_end,
                                      as_background_job=False)
        except (OSError, RuntimeError) as error:
            return _report(self, error)
        if not path.exists() or path.stat().st_mtime < before - 2:
            return _report(self, f"{path}: was not written")
        self.report({"INFO"}, str(path))
        return {"FINISHED"}


class Clear(bpy.types.Operator):
    """Take the result off the selected objects; the files stay"""

    bl_idname, bl_label, bl_options = "isocloth.clear", "Remove result", {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return running is None and bool(_cached(context))

    def execute(self, context):
        for obj in _cached(context):
            obj.modifiers.remove(cache_of(obj))
        return {"FINISHED"}


CLASSES = (SetRole, Sew, PinPoints, Unpick, Simulate, Cancel, Bake, Export, Clear)
