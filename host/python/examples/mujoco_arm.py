"""A Panda of mujoco_menagerie closes its fingers on a strip of towel, lifts it, turns it once around, and holds it.

    pip install 'isocloth[mujoco,record]' mujoco_menagerie matplotlib python host/python/examples/mujoco_arm.py
    results/arm --film       # without a display: MUJOCO_GL=egl

Without network, --model names a panda.xml. The menagerie's fingers are driven by a spring of 100 N/m, whose force on a
towel of 2 mm is 0.05 N; here a servo closes them with a force that is bounded, as the real ones do, and they have flat
pads. What the towel should feel is that force, and what it should do is stay between the fingers: both are printed.
"""

import argparse
import pathlib
import time

import mujoco
import numpy
from isocloth.mujoco import Bridge

STEP = 0.004  # two of MuJoCo's
ARM = slice(0, 7)
PAD = 0.1029  # from the hand to the middle of the finger tips, along its z [m]


def panda(path, grip):
    """The model: its arm as it is, a floor, and pads and a servo for the fingers."""
    spec = mujoco.MjSpec.from_file(str(path))
    world = spec.worldbody
    world.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[1.5, 1.5, 0.1], rgba=[0.5, 0.5, 0.48, 1],
                   contype=0, conaffinity=0)
    spec.visual.headlight.ambient = [0.35, 0.35, 0.35]
    spec.visual.headlight.diffuse = [0.45, 0.45, 0.45]
    spec.visual.global_.offwidth, spec.visual.global_.offheight = 1280, 960
    fingers = spec.actuator("actuator8")
    fingers.set_to_position(kp=2000, kv=100)
    fingers.ctrlrange, fingers.forcerange = [-0.01, 0.04], [-2 * grip, 2 * grip]
    for side in ("left", "right"):
        spec.body(f"{side}_finger").add_geom(
            name=f"{side}_pad", type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.012, 0.003, 0.012], pos=[0, 0.002, 0.0445],
            mass=0.002, rgba=[0.15, 0.15, 0.15, 1])
    for key in list(spec.keys):
        spec.delete(key)
    return spec.compile()


def towel(edge, length=0.2, width=0.06):
    """Hangs in the plane of y and z below the middle of its upper edge, which lets go after 1.5 s."""
    return {"recipe": "membrane", "step": STEP, "duration": 1000, "contact": {"tolerance": 1e-4},
            "projection": {"on_violation": "continue"},
            "garments": [{"mesh": {"generator": "quad_grid", "nodes": [21, 7], "size": [length, width]},
                          "transform": {"rotation": [0, -90, 0],
                                        "translation": [edge[0], edge[1] - width / 2, edge[2] - length]},
                          "fabric": {"density": 0.2, "gravity_density": 0.2, "bending_stiffness": 2e-5,
                                     "mass_damping": 0.2, "stretch_stiffness": 2000, "shear_stiffness": 100,
                                     "thickness": 0.002},
                          "grippers": [{"name": "line", "region": {"type": "box", "size": [0.05, width + 0.02, 0.004]},
                                        "position": list(edge), "holds": [{"from": 0, "to": 1.5}]}]}]}


def joints_for(model, data, hand, place, turn, start):
    """Angles of the arm that have the hand at a place [m] with axes, shape (3, 3), by damped least squares."""
    joints = start.copy()
    jacobian = numpy.zeros((6, model.nv))
    error = numpy.zeros(6)
    for _ in range(100):
        data.qpos[ARM] = joints
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        now = data.xmat[hand].reshape(3, 3)
        error[:3] = place - data.xpos[hand]
        error[3:] = sum(numpy.cross(now[:, k], turn[:, k]) for k in range(3)) / 2
        if numpy.abs(error).max() < 1e-9:
            break
        mujoco.mj_jacBody(model, data, jacobian[:3], jacobian[3:], hand)
        j = jacobian[:, ARM]
        joints += j.T @ numpy.linalg.solve(j @ j.T + 1e-8 * numpy.eye(6), error)
    else:
        raise SystemExit(f"found no angles of the arm for {place}: it is out of reach")
    return joints


def between(t, begin, end):
    """From 0 to 1, at rest at both ends."""
    s = numpy.clip((t - begin) / (end - begin), 0, 1)
    return s * s * s * (10 + s * (6 * s - 15))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--model", type=pathlib.Path, help="panda.xml; default: that of mujoco_menagerie")
    parser.add_argument("--grip", type=float, default=2.0, help="normal force of each finger [N]")
    parser.add_argument("--hold", type=float, default=60.0, help="[s]")
    parser.add_argument("--bodies", nargs="*", default=None, help="that the towel meets; default: all that collide")
    parser.add_argument("--film", action="store_true", help="arm.mp4, and arm.png of four moments")
    parser.add_argument("--fps", type=float, default=25, help="pictures of the film in a second")
    arguments = parser.parse_args()
    if arguments.model is None:
        import mujoco_menagerie

        arguments.model = mujoco_menagerie.get("franka_emika_panda").path() / "panda.xml"
    model = panda(arguments.model, arguments.grip)
    data, plan = mujoco.MjData(model), mujoco.MjData(model)
    hand = model.body("hand").id
    data.qpos[:] = [-numpy.pi / 2, 0, 0, -1.57079, 0, 1.57079, numpy.pi / 4, 0.03, 0.03]
    mujoco.mj_forward(model, data)
    place, turn = data.xpos[hand].copy(), data.xmat[hand].reshape(3, 3).copy()
    lifted = [data.qpos[ARM].copy()]  # from 0.2 m below to here
    for z in numpy.linspace(0.01, 0.2, 20):
        lifted.insert(0, joints_for(model, plan, hand, place - [0, 0, z], turn, lifted[0]))
    data.qpos[ARM] = lifted[0]
    mujoco.mj_forward(model, data)
    place = data.xpos[hand].copy()
    bridge = Bridge(model, data, towel(place - [0, 0, PAD - 0.006]), bodies=arguments.bodies, threads=1)
    renderer = mujoco.Renderer(model, 480, 640, max_geom=20000) if arguments.film else None
    camera = mujoco.MjvCamera()
    camera.lookat[:], camera.distance, camera.azimuth, camera.elevation = [0.1, 0, 0.42], 2.1, 160, -18
    gains = model.actuator_gainprm[ARM, 0]
    pictures, log = [], []
    began, cpu = time.perf_counter(), time.process_time()
    end = 9.5 + arguments.hold
    fingers = {side: [g for g in bridge.wrenches if g.startswith(side)] for side in ("left", "right")}
    chosen = None
    for k in range(round(end / STEP)):
        t = (k + 1) * STEP
        s = 20 * between(t, 1.6, 3.0)
        i = min(int(s), 19)
        joints = lifted[i] + (s - i) * (lifted[i + 1] - lifted[i])
        around = numpy.pi * between(t, 3.0, 9.0)  # of the arm and of the hand in it, neither of which turns so far
        joints[0] += around
        joints[6] -= around
        data.ctrl[ARM] = joints + data.qfrc_bias[ARM] / gains  # the arm's weight
        data.ctrl[7] = 0.03 - 0.04 * between(t, 0.1, 1.0)
        [report] = bridge.step()
        x = bridge.simulation.positions(0)
        axes = data.xmat[hand].reshape(3, 3)
        tips = data.xpos[hand] + PAD * axes[:, 2]
        seen = (x - tips) @ axes
        if t >= 1.5 and chosen is None:
            chosen = (numpy.abs(seen) < [0.012, 0.01, 0.012]).all(-1)
        forces = {side: sum(bridge.wrenches[g][:3] for g in own) for side, own in fingers.items()}
        log.append([t, forces["left"] @ axes[:, 1], forces["right"] @ axes[:, 1],
                    *(seen[chosen].mean(0) if chosen is not None else numpy.zeros(3)), report.strain.max,
                    report.status == "converged", data.qpos[7], data.qpos[8]])
        if renderer and len(pictures) < min(t, 10) * arguments.fps:
            renderer.update_scene(data, camera)
            bridge.draw(renderer.scene)
            pictures.append(renderer.render().copy())
        if (k + 1) % round(1 / STEP) == 0:
            print(f"{t:.0f} s: fingers at {log[-1][1]:.3f} and {log[-1][2]:.3f} N, "
                  f"{time.process_time() - cpu:.1f} s of CPU", flush=True)
    log = numpy.array(log)
    held = log[log[:, 0] > 9.5]
    closed = log[log[:, 0] > 1.2]
    seconds = time.perf_counter() - began
    print(f"normal force of the left finger {held[:, 1].mean():.4f} N (from {held[:, 1].min():.4f} to "
          f"{held[:, 1].max():.4f}), of the right {held[:, 2].mean():.4f} N, of the motor {arguments.grip} N")
    print(f"largest force on a finger {numpy.abs(log[:, 1:3]).max():.3f} N, least after closing "
          f"{numpy.abs(closed[:, 1:3]).min():.3f} N")
    print(f"slip while held for {arguments.hold} s: {1e3 * numpy.ptp(held[:, 3:6], axis=0).max():.4f} mm; from "
          f"before the lift: {1e3 * numpy.abs(held[-1, 3:6] - log[log[:, 0] > 1.55][0, 3:6]).max():.3f} mm")
    print(f"largest strain {log[:, 6].max():.4f}; {int((log[:, 7] == 0).sum())} steps of {len(log)} not converged")
    print(f"{seconds:.1f} s for {end} s ({(time.process_time() - cpu) / len(log) * 1e3:.2f} ms of CPU a step)")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    numpy.savetxt(arguments.folder / "log.csv", log, delimiter=",", fmt="%.6g",
                  header="t,left,right,x,y,z,strain,converged,q_left,q_right")
    if pictures:
        import imageio_ffmpeg
        import matplotlib.image

        moments = [pictures[min(int(t * arguments.fps), len(pictures) - 1)] for t in (0.2, 3.0, 6.0, 9.0)]
        matplotlib.image.imsave(arguments.folder / "arm.png", numpy.concatenate(moments, axis=1))
        path = arguments.folder / "arm.mp4"
        writer = imageio_ffmpeg.write_frames(str(path), pictures[0].shape[1::-1], fps=arguments.fps, quality=7)
        writer.send(None)
        for picture in pictures:
            writer.send(numpy.ascontiguousarray(picture))
        writer.close()
        print(path)


if __name__ == "__main__":
    main()
