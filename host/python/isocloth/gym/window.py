"""A window for people."""

import gymnasium
import numpy


class Window:
    """Shows pictures side by side, at most so many a second; needs pygame."""

    most = 16  # pictures

    def __init__(self, title, pictures_per_second):
        try:
            import pygame
        except ImportError as error:
            raise gymnasium.error.DependencyNotInstalled(
                "render_mode: found 'human' without pygame, expected it: pip install pygame") from error
        self._pygame, self._title, self._rate, self._surface = pygame, title, pictures_per_second, None
        pygame.display.init()
        self._clock = pygame.time.Clock()

    def show(self, pictures):
        """pictures: uint8, shape (n, rows, columns, 3)."""
        columns = int(numpy.ceil(numpy.sqrt(len(pictures))))
        rows = -(-len(pictures) // columns)
        sheet = numpy.zeros((rows * columns, *pictures.shape[1:]), dtype=numpy.uint8)
        sheet[:len(pictures)] = pictures
        height, width = pictures.shape[1:3]
        sheet = sheet.reshape(rows, columns, height, width, 3).swapaxes(1, 2).reshape(rows * height, columns * width, 3)
        if self._surface is None:
            self._surface = self._pygame.display.set_mode((columns * width, rows * height))
            self._pygame.display.set_caption(self._title)
        self._pygame.surfarray.blit_array(self._surface, sheet.swapaxes(0, 1))
        self._pygame.event.pump()
        self._pygame.display.flip()
        self._clock.tick(self._rate)

    def close(self):
        self._pygame.display.quit()
