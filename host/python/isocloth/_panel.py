"""What a page can be asked for: the panel of the viewer."""

import functools
import html
import math

from ._door import Choice, Flag, Number
from ._fields import QUANTITIES
from ._video import RECORDED

_LABELS = {"stretch_stiffness": ("stretch", "N/m"), "shear_stiffness": ("shear", "N/m"),
           "bending_stiffness": ("bending", "N m"),
           "mass_damping": ("damping alpha", "kg/(m² s)")}
_ALL = "all"
_MOST_FRAMES = 1 << 24
_MOST = 1e12  # upper end of colours, in any unit


def _distinct(names):
    """Of garments, for a list to choose from."""
    counts = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return [name if counts[name] == 1 and name != _ALL else f"{name} ({number})" for number, name in enumerate(names)]


def _text(number):
    """Three digits."""
    return f"{float(f'{number:.3g}'):g}"


def _html(text):
    """A line as it is, whatever is in it."""
    return f'<div style="padding: 0 0.75em 0.25em; font-size: 0.8em">{html.escape(str(text))}</div>'


class Panel:
    """Asks a viewer for what is set, and shows what it says."""

    def __init__(self, viewer):
        self._viewer, self._gui = viewer, viewer.server.gui
        self.text, self.message = self._gui.add_markdown(""), self._gui.add_html("")
        self._add_run()
        self._add_timeline()
        self._add_colors()
        self._add_surroundings()
        self._add_fabric()
        if viewer.recorder is not None:
            self._add_recorder()

    def refuse(self, text):
        """Says what was refused, or nothing any more."""
        content = _html(f"refused: {text}") if text else ""
        if self.message.content != content:
            self.message.content = content

    def say_written(self, path):
        """Says which file is written."""
        self.written.content = _html(path)

    # Whatever has a value, or is pressed, is made by one of these, so that the door knows its values.

    def _button(self, label, command):
        handle = self._viewer.door.add(self._gui.add_button(label), Flag())
        self._on(handle.on_click, lambda: self._viewer.ask(command))
        return handle

    def _slider(self, label, low, high, step, value, **options):
        margin = 1e-6 * (high - low)  # for what a page rounds
        return self._viewer.door.add(self._gui.add_slider(label, low, high, step, value, **options),
                                     Number(low - margin, high + margin))

    def _dropdown(self, label, options, value):
        return self._viewer.door.add(self._gui.add_dropdown(label, options, initial_value=value), Choice(*options))

    def _on(self, register, command):
        """Calls a command whenever viser says so; what it raises is shown."""
        @register
        def _(_event):
            try:
                command()
            except Exception as error:
                self._viewer.tell(error)

    def _asks(self, handle, command):
        """Has the viewer do something with the value of a handle whenever it changes, the last one alone."""
        self._on(handle.on_update, lambda: self._viewer.ask(lambda: command(handle.value), key=id(handle)))

    def _add_run(self):
        viewer = self._viewer
        self.pause = self._button("Pause", lambda: viewer.pause(not viewer.is_paused))
        self._step, self._reset = self._button("Step", viewer.single_step), self._button("Start again",
                                                                                         viewer.start_again)
        self._speed = self._slider("times real time", 0.1, 4, 0.1, viewer.speed)
        self._asks(self._speed, lambda value: setattr(viewer, "speed", value))
        self.show_run(viewer.steps_by_itself)

    def show_run(self, is_shown):
        """Whether there is what makes the simulation run, stand or start again."""
        for handle in (self.pause, self._step, self._reset, self._speed):
            handle.visible = is_shown

    def _add_timeline(self):
        viewer = self._viewer
        with self._gui.add_folder("Timeline"):
            self._frame = viewer.door.add(self._gui.add_slider("frame", 0, 1, 1, 0), Number(0, _MOST_FRAMES, int))
            self._when = self._gui.add_html("")
            self._loops = viewer.door.add(self._gui.add_checkbox("loop", False), Flag())
        self._is_told = False  # the page follows the program: nothing is asked for

        def look():
            if not self._is_told:
                viewer.ask(lambda: viewer.look_back(min(self._frame.value, len(viewer.timeline) - 1)), key="frame")

        def loop():
            if not self._is_told:
                viewer.ask(lambda: viewer.play_back(self._loops.value), key="loop")

        self._on(self._frame.on_update, look)
        self._on(self._loops.on_update, loop)

    def show_timeline(self):
        """Which of how many frames is shown."""
        viewer = self._viewer
        last = max(1, len(viewer.timeline) - 1)
        number = last if viewer._seen is None else viewer._seen
        self._is_told = True
        try:
            if self._frame.max != last:
                self._frame.max = last
            if self._frame.value != number:
                self._frame.value = number
            if self._loops.value != viewer.is_looping:
                self._loops.value = viewer.is_looping
        finally:
            self._is_told = False
        times = viewer.timeline.times
        text = "" if viewer._seen is None else f"{times[viewer._seen]:.2f} of {times[-1]:.2f} s"
        if self._when.content != _html(text):
            self._when.content = _html(text)

    def _add_colors(self):
        viewer = self._viewer
        with self._gui.add_folder("Colours"):
            self.by = by = self._dropdown("colour by", ("plain", "garment", *viewer.shown.quantities()), viewer.color)
            self._fixed = viewer.door.add(self._gui.add_checkbox("fixed range", False), Flag())
            self._most = viewer.door.add(self._gui.add_number("up to", 1.0, min=1e-9, step=0.01, visible=False),
                                         Number(1e-9, _MOST))
            self.legend = self._gui.add_html("", visible=False)
        self._follows = False  # the page follows the program: nothing is asked for

        def ask():
            if not self._follows:
                color, most = by.value, self._most.value if self._fixed.value else None
                viewer.ask(lambda: viewer.color_by(color, most), key="color")

        def fix():
            if self._fixed.value and not self._follows:
                self._most.value = min(max(float(f"{viewer.range_end:.6g}"), 1e-9), _MOST)
            ask()

        for handle, command in ((by, ask), (self._most, ask), (self._fixed, fix)):
            self._on(handle.on_update, command)

    def show_color(self, color, most):
        """What the cloth is coloured by now."""
        self._follows = True
        try:
            if self.by.value != color:
                self.by.value = color
            if self._fixed.value != (most is not None):
                self._fixed.value = most is not None
            if most is not None and self._most.value != most:
                self._most.value = most
        finally:
            self._follows = False
        self._most.visible = most is not None
        self._most.label = f"up to [{QUANTITIES[color].unit}]" if color in QUANTITIES else "up to"
        self.legend.visible = color in QUANTITIES

    def _add_surroundings(self):
        viewer, simulation = self._viewer, self._viewer.simulation
        with self._gui.add_folder("Surroundings"):
            now = simulation.gravity(0)
            gravity = self._slider("gravity [m/s²]", min(0.0, now), max(20.0, now), 0.1, now)
            self._asks(gravity, viewer.set_gravity)
            if not any(simulation.feels_wind(g) for g in viewer.shown.garments):
                return
            x, y, z = (float(c) for c in simulation.wind_velocity)
            flat = math.hypot(x, y)
            size = math.hypot(flat, z)
            speed = self._slider("wind [m/s]", 0, max(20.0, math.ceil(size)), 0.1, size)
            towards = self._slider("blows towards [° from x]", -180, 180, 1,
                                           round(math.degrees(math.atan2(y, x))) if flat else 0)
            rises = self._slider("and up [°]", -90, 90, 1,
                                         round(math.degrees(math.atan2(z, flat))) if size else 0)

        def blow(_value):
            a, b = math.radians(towards.value), math.radians(rises.value)
            viewer.set_wind([speed.value * math.cos(b) * math.cos(a), speed.value * math.cos(b) * math.sin(a),
                             speed.value * math.sin(b)])

        for handle in (speed, towards, rises):
            self._asks(handle, blow)

    def _add_fabric(self):
        """Stiffnesses as factors of what they are in the scene, so that one slider does for silk and denim."""
        viewer, simulation = self._viewer, self._viewer.simulation
        garments = viewer.shown.garments
        names = _distinct(viewer.shown.names)
        terms = [term for term in _LABELS if any(term in simulation.fabric_terms(g) for g in garments)]
        self.fabrics = {}  # sliders by term
        with self._gui.add_folder("Fabric"):
            of = self._dropdown("of garment", (_ALL, *names), _ALL) if len(names) > 1 else None
            for term in terms:
                self.fabrics[term] = self._add_term(term)
        start = {term: [simulation.fabric(g)[term] for g in garments] for term in terms}
        self._exponents = {term: [0.0] * len(garments) for term in terms}

        def chosen(term):
            one = range(len(garments)) if of is None or of.value == _ALL else [names.index(of.value)]
            return [n for n in one if term in simulation.fabric_terms(garments[n])]

        def values_of(term, value):
            return value if term == "mass_damping" else [start[term][n] * 10 ** value for n in chosen(term)]

        def label(term):
            name, unit = _LABELS[term]
            slider, own = self.fabrics[term], chosen(term)
            slider.disabled = not own
            if term != "mass_damping" and own:
                values = [simulation.fabric(garments[n])[term] for n in own]
                low, high = min(values), max(values)
                number = _text(low) if high <= low * (1 + 1e-9) else f"{_text(low)} to {_text(high)}"
                slider.label = f"{name} {number} {unit}"

        def change(term, value):
            own = chosen(term)
            if not own:
                return
            viewer.set_fabric([garments[n] for n in own], term, values_of(term, value))
            for n in own:
                self._exponents[term][n] = value
            label(term)

        for term in terms:
            first = chosen(term)[0]
            if term == "mass_damping":
                self._exponents[term] = [simulation.fabric(g)[term] for g in garments]
                self.fabrics[term].value = min(self._exponents[term][first], self.fabrics[term].max)
            label(term)
            self._asks(self.fabrics[term], functools.partial(change, term))

        def choose():
            for term in terms:
                own = chosen(term)
                if own:
                    self.fabrics[term].value = self._exponents[term][own[0]]
                label(term)

        if of is not None:
            self._on(of.on_update, choose)

    def _add_term(self, term):
        name, unit = _LABELS[term]
        if term == "mass_damping":
            most = max(5.0, 2 * max(self._viewer.simulation.fabric(g)[term] for g in self._viewer.shown.garments))
            return self._slider(f"{name} [{unit}]", 0.0, most, 0.05, 0.0)
        return self._slider(name, -2.0, 2.0, 0.05, 0.0, hint="power of 10 of what the scene says")

    def _add_recorder(self):
        viewer = self._viewer
        with self._gui.add_folder("Record"):
            self._button("Picture (PNG)", viewer.take_picture)
            kind = self._dropdown("film", RECORDED, RECORDED[0])
            self.film = self._button("Record", lambda: viewer.film(kind.value))
            self.written = self._gui.add_html("")
