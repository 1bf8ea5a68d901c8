"""Engines of cloth that compare_peers.py and pareto_peers.py put side by side: one class each, with one interface.

An engine takes a `Sheet` and its own knobs; `advance()` goes one frame on and is what is timed, `between_frames()` does
what an engine leaves to its user and is not, `positions()` are those of the nodes of the first copy, shape (nodes, 3).
Each runs on one thread: OMP_NUM_THREADS must be 1 before this module is imported, or in the environment.
"""

import importlib.metadata
import os
import tempfile

import numpy
from sheet_ruler import triangles

os.environ.setdefault("OMP_NUM_THREADS", "1")


def version(kind):
    """Of the package of an engine; None where it is not installed."""
    try:
        return importlib.metadata.version(kind.package)
    except importlib.metadata.PackageNotFoundError:
        return None


class Engine:
    package = ""
    has_drag = True  # whether the sheet's drag acts on it

    def between_frames(self):
        pass


class Isocloth(Engine):
    """Steps of `step` [s], default a frame. `recipe`, `fabric`, `projection`, `impulse` are keys of a scene."""

    package = "isocloth"

    def __init__(self, sheet, copies=1, step=None, recipe="membrane", fabric=None, projection=None, impulse=None):
        import isocloth

        self.steps = round(sheet.frame / (step or sheet.frame))
        mesh = {"generator": "quad_grid", "nodes": [sheet.nodes, sheet.nodes], "size": [sheet.size, sheet.size]}
        mass = {"density": sheet.density, "gravity_density": sheet.density, "mass_damping": sheet.density * sheet.drag}
        garment = {"mesh": mesh, "replicas": copies, "fabric": mass | (fabric or {}),
                   "pins": [{"select": {"nodes": list(sheet.pins)}}]}
        scene = {"recipe": recipe, "step": sheet.frame / self.steps, "duration": 1, "gravity": sheet.gravity,
                 "garments": [garment]}
        if impulse:
            scene["impulse"] = impulse
        else:
            scene["projection"] = {"on_violation": "continue"} | (projection or {})
        self.simulation = isocloth.Simulation(scene, threads=1, measure_strain=False)
        for copy in range(copies if (sheet.start != sheet.rest).any() else 0):
            self.simulation.move_pin(copy, 0, sheet.start[list(sheet.pins)], 1e-9)  # pins stay where they start, too
            self.simulation.write("positions", sheet.start, [copy])

    def advance(self):
        self.simulation.advance(self.steps)

    def positions(self):
        return self.simulation.positions(0)


class MujocoFlex(Engine):
    """Flex of triangles: one model, a state for each copy. `flex` stands in its flexcomp, `integrator` is MuJoCo's."""

    package = "mujoco"

    def __init__(self, sheet, copies=1, flex="", integrator="discrete", step=None):
        import mujoco

        self.steps = round(sheet.frame / (step or sheet.frame))
        points = " ".join(f"{x:.17g}" for x in sheet.rest.ravel())
        elements = " ".join(str(node) for node in triangles(sheet.nodes).ravel())
        model = mujoco.MjModel.from_xml_string(
            f'<mujoco><option timestep="{sheet.frame / self.steps}" integrator="{integrator}" '
            f'gravity="0 0 -{sheet.gravity}"><flag contact="disable"/></option><worldbody>'
            f'<flexcomp name="sheet" type="direct" dim="2" point="{points}" element="{elements}" '
            f'mass="{sheet.masses.sum()}" radius="0.001">{flex}'
            f'<contact selfcollide="none" contype="0" conaffinity="0"/><pin id="{sheet.pins[0]} {sheet.pins[1]}"/>'
            '</flexcomp></worldbody></mujoco>')
        self.states = [mujoco.MjData(model) for _ in range(copies)]
        for node, body in enumerate(model.flex_vertbodyid):
            if body > 0:
                model.body_mass[body] = sheet.masses[node]
        mujoco.mj_setConst(model, self.states[0])
        # Places of pinned nodes are the model's, of others joints of the state; the shape at rest is that of above.
        model.flex_vert[list(sheet.pins)] = sheet.start[list(sheet.pins)]
        for node, body in enumerate(model.flex_vertbodyid):
            if body > 0:
                degrees = slice(model.body_dofadr[body], model.body_dofadr[body] + 3)
                model.dof_damping[degrees] = sheet.drag * model.body_mass[body]
                joint = model.jnt_qposadr[model.body_jntadr[body]]
                for state in self.states:
                    state.qpos[joint:joint + 3] = sheet.start[node] - sheet.rest[node]
        self.step = lambda: [mujoco.mj_step(model, state) for state in self.states for _ in range(self.steps)]
        self.update = lambda: mujoco.mj_fwdPosition(model, self.states[0])  # a step leaves positions of its start

    def advance(self):
        self.step()

    def positions(self):
        self.update()
        return self.states[0].flexvert_xpos.copy()


class NewtonVbd(Engine):
    """Triangles, vertex block descent: ``substeps`` of ``iterations`` in a frame, all copies in one model. `stiffness`
    [N/m] is both of its Lame parameters, `kappa` that of edges [N m]."""

    package = "newton"

    def __init__(self, sheet, copies=1, substeps=1, iterations=10, stiffness=1e3, damping=0.0, kappa=0.0):
        import newton
        import warp

        warp.config.quiet = True
        warp.set_device("cpu")
        builder = newton.ModelBuilder()
        count = sheet.nodes**2
        for copy in range(copies):
            builder.add_cloth_mesh(
                pos=warp.vec3(0.0, 0.0, 0.0), rot=warp.quat_identity(), scale=1.0, vel=warp.vec3(0.0, 0.0, 0.0),
                vertices=[warp.vec3(*place) for place in sheet.rest], indices=triangles(sheet.nodes).ravel().tolist(),
                density=sheet.density, tri_ke=stiffness, tri_ka=stiffness, tri_kd=damping, edge_ke=kappa, edge_kd=0.0,
                particle_radius=0.001)
            for node in range(count):
                builder.particle_mass[copy * count + node] = float(sheet.masses[node])
            for node in sheet.pins:
                builder.particle_mass[copy * count + node] = 0.0
                builder.particle_flags[copy * count + node] &= ~int(newton.ParticleFlags.ACTIVE)
        builder.color(include_bending=kappa > 0)
        model = builder.finalize(device="cpu")
        model.set_gravity((0.0, 0.0, -sheet.gravity))
        self.solver = newton.solvers.SolverVBD(model, iterations=iterations)
        self.states, self.control, self.substeps = [model.state(), model.state()], model.control(), substeps
        for state in self.states:
            state.particle_q.assign(numpy.tile(sheet.start, (copies, 1)).astype(numpy.float32))
        self.contacts = newton.CollisionPipeline(model).contacts()
        self.step, self.count = sheet.frame / substeps, count
        self.kept = float(numpy.exp(-sheet.drag * sheet.frame))

    def advance(self):
        for _ in range(self.substeps):
            self.states[0].clear_forces()
            self.solver.step(*self.states, self.control, self.contacts, self.step)
            self.states.reverse()

    def between_frames(self):
        if self.kept < 1:
            velocities = self.states[0].particle_qd
            velocities.assign(velocities.numpy() * numpy.float32(self.kept))

    def positions(self):
        return self.states[0].particle_q.numpy()[:self.count].copy()


class PositionBasedDynamics(Engine):
    """pypbd: ``substeps`` of ``iterations`` in a frame. `method` of its cloth: 1 distances, 2 triangles by finite
    elements, 3 strain of triangles, 4 distances by XPBD; `stiffness` is in [0, 1] for 1 and 3, else [N/m]."""

    package = "pypbd"
    upright = [0, 2, 1]  # its gravity is along -y, and strain of triangles is measured in the plane y = 0

    def __init__(self, sheet, substeps=5, iterations=1, method=4, stiffness=1.0):
        import pypbd

        first = not pypbd.Simulation.hasCurrent()  # there is one, for the whole process
        simulation = pypbd.Simulation.getCurrent()
        if first:
            simulation.initDefault()
        self.model, self.scheme = simulation.getModel(), simulation.getTimeStep()
        self.model.cleanup()
        mesh = self.model.addTriangleModel(list(sheet.rest[:, self.upright]), triangles(sheet.nodes).ravel().tolist())
        self.particles = self.model.getParticles()
        for node, mass in enumerate(sheet.masses):
            self.particles.setMass(node, 0.0 if node in sheet.pins else mass)
        self.model.addClothConstraints(mesh, method, stiffness, stiffness, stiffness, stiffness, 0.3, 0.3, False, False)
        for node, place in enumerate(sheet.start[:, self.upright]):
            self.particles.setPosition(node, place)
        for key, value in (("NUM_SUB_STEPS", substeps), ("MAX_ITERATIONS", iterations)):
            self.scheme.setValueUInt(getattr(pypbd.TimeStepController, key), value)
        pypbd.TimeManager.getCurrent().setTimeStepSize(sheet.frame)
        self.kept = float(numpy.exp(-sheet.drag * sheet.frame))

    def advance(self):
        self.scheme.step(self.model)

    def between_frames(self):
        for node in range(self.particles.getNumberOfParticles() if self.kept < 1 else 0):
            self.particles.setVelocity(node, self.kept * self.particles.getVelocity(node))

    def positions(self):
        return numpy.array(self.particles.getVertices())[:, self.upright]


class Bullet(Engine):
    """pybullet's soft bodies, ``substeps`` in a frame: links of fixed stiffness in the world of soft bodies, springs
    of `stiffness` [N/m] and `damping` [N s/m] in the deformable one. No velocities of nodes: no drag; even masses."""

    package = "pybullet"
    has_drag = False

    def __init__(self, sheet, substeps=1, deformable=False, stiffness=1.0, damping=0.0):
        import pybullet

        self.pybullet = pybullet
        self.client = pybullet.connect(pybullet.DIRECT)
        client = {"physicsClientId": self.client}
        if deformable:
            pybullet.resetSimulation(pybullet.RESET_USE_DEFORMABLE_WORLD, **client)
        pybullet.setGravity(0, 0, -sheet.gravity, **client)
        pybullet.setTimeStep(sheet.frame / substeps, **client)
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "sheet.obj")
            with open(file, "w") as text:
                text.writelines(f"v {x:.9g} {y:.9g} {z:.9g}\n" for x, y, z in sheet.rest)
                text.writelines(f"f {a} {b} {c}\n" for a, b, c in triangles(sheet.nodes) + 1)
            self.body = pybullet.loadSoftBody(
                file, mass=float(sheet.masses.sum()), scale=1, useMassSpring=1, useBendingSprings=0, useNeoHookean=0,
                springElasticStiffness=stiffness, springDampingStiffness=damping, springBendingStiffness=0,
                useSelfCollision=0, collisionMargin=0.001, **client)
        pybullet.resetMeshData(self.body, [tuple(place) for place in sheet.start], **client)
        for node in sheet.pins:
            pybullet.createSoftBodyAnchor(self.body, node, -1, -1, **client)
        self.substeps = substeps

    def advance(self):
        for _ in range(self.substeps):
            self.pybullet.stepSimulation(physicsClientId=self.client)

    def positions(self):
        return numpy.array(self.pybullet.getMeshData(
            self.body, -1, flags=self.pybullet.MESH_DATA_SIMULATION_MESH, physicsClientId=self.client)[1])

    def __del__(self):
        self.pybullet.disconnect(self.client)


ENGINES = [Isocloth, PositionBasedDynamics, Bullet, MujocoFlex, NewtonVbd]
