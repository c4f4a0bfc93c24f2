"""A reply's body that is made while it is sent."""

from collections.abc import Callable, Iterator, Sequence

from tests.fakes.llm_script import Action


class Body(Sequence[Action]):
    """`make` begins it, once for each sending."""

    def __init__(self, make: Callable[[], Iterator[Action]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[Action]:
        return self._make()

    def __len__(self) -> int:
        raise TypeError("nobody knows before it is sent")

    def __getitem__(self, index):
        raise TypeError("it is only sent")
