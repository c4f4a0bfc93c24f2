"""The catalogue of models for administrators, and what of it everybody may choose."""

from decimal import Decimal
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import AfterValidator, Field, StringConstraints

from api.deps import CurrentActor, SessionDep
from api.schemas import ApiModel
from api.settings.schemas import DriverName, Window, one_line
from shared.core.tunables import MAX_MODEL_NAME_CHARS, MAX_TOKEN_PRICE
from shared.providers import catalogue, repository
from shared.providers.models import CatalogueModel

router = APIRouter(tags=["settings"])

ModelName = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_MODEL_NAME_CHARS),
    AfterValidator(one_line),
]
Price = Annotated[float, Field(ge=0, le=MAX_TOKEN_PRICE, allow_inf_nan=False)]


class AiModelItem(ApiModel):
    """A model of a driver. Prices are US dollars per million tokens, the window is in tokens;
    null: not known. People may choose an `allowed` one."""

    driver: DriverName
    model: ModelName
    input_price: Price | None = None
    output_price: Price | None = None
    context_window: Window | None = None
    allowed: bool = True

    @classmethod
    def of(cls, row: CatalogueModel) -> "AiModelItem":
        return cls(
            driver=row.driver,
            model=row.model,
            input_price=None if row.input_price is None else float(row.input_price),
            output_price=None if row.output_price is None else float(row.output_price),
            context_window=row.context_window,
            allowed=row.allowed,
        )

    def to_entry(self) -> catalogue.Entry:
        return catalogue.Entry(
            driver=self.driver,
            model=self.model,
            input_price=_dollars(self.input_price),
            output_price=_dollars(self.output_price),
            context_window=self.context_window,
            allowed=self.allowed,
        )


def _dollars(price: float | None) -> Decimal | None:
    return None if price is None else Decimal(str(price))


class AiModelList(ApiModel):
    items: list[AiModelItem]


class ModelChoice(ApiModel):
    model: str
    is_default: bool


class ModelChoices(ApiModel):
    """What a chat can be asked to use; the workspace's model comes first."""

    items: list[ModelChoice]
    show_model_selector: bool


@router.get("/workspace/ai-models")
async def list_ai_models(actor: CurrentActor, session: SessionDep) -> AiModelList:
    """The whole catalogue. Owners and admins only."""
    rows = await catalogue.list_models(session, actor)
    return AiModelList(items=[AiModelItem.of(row) for row in rows])


@router.put("/workspace/ai-models")
async def put_ai_model(body: AiModelItem, actor: CurrentActor, session: SessionDep) -> AiModelItem:
    """Add a model, or describe the one of this driver and name anew. Owners and admins only."""
    return AiModelItem.of(await catalogue.put_model(session, actor, body.to_entry()))


@router.delete("/workspace/ai-models", status_code=204)
async def delete_ai_model(
    actor: CurrentActor,
    session: SessionDep,
    driver: Annotated[DriverName, Query()],
    model: Annotated[ModelName, Query()],
) -> None:
    """Take a model out of the catalogue. Owners and admins only."""
    await catalogue.delete_model(session, actor, driver, model)


@router.get("/ai/models")
async def list_model_choices(actor: CurrentActor, session: SessionDep) -> ModelChoices:
    """The models that you may choose for a chat."""
    ai = await repository.get(session, actor.workspace_id)
    names = await catalogue.allowed_models(session, ai)
    return ModelChoices(
        items=[ModelChoice(model=name, is_default=name == ai.chat_model) for name in names],
        show_model_selector=ai.show_model_selector,
    )
