"""A pet shop on flask-smorest, whose documents apispec and marshmallow write."""

from enum import Enum
from itertools import count

from flask import Flask
from flask.views import MethodView
from flask_smorest import Api, Blueprint, abort
from marshmallow import Schema, fields, validate

app = Flask("pets")
app.config |= {
    "API_TITLE": "Pets",
    "API_VERSION": "v1",
    "OPENAPI_VERSION": "3.0.3",
    "OPENAPI_URL_PREFIX": "/",
    "OPENAPI_JSON_PATH": "openapi.json",
}


class Species(Enum):
    CAT = "cat"
    DOG = "dog"


class VaccinationSchema(Schema):
    name = fields.String(required=True, validate=validate.OneOf(["rabies", "distemper"]))
    on = fields.Date(required=True)


class PetSchema(Schema):
    id = fields.Integer(dump_only=True)
    name = fields.String(required=True, validate=validate.Length(2, 30))
    species = fields.Enum(Species, by_value=True, required=True)
    chip = fields.String(required=True, validate=validate.Regexp(r"^\d{15}$"))
    weight = fields.Decimal(
        required=True, as_string=True, validate=validate.Range(min=0, min_inclusive=False, max=200)
    )
    born = fields.DateTime(allow_none=True)
    vaccinations = fields.List(fields.Nested(VaccinationSchema), validate=validate.Length(max=9))
    extra = fields.Dict(keys=fields.String(), values=fields.Integer())


class PetArgsSchema(Schema):
    species = fields.List(fields.Enum(Species, by_value=True))
    name = fields.String(validate=validate.Length(min=2))
    heavier = fields.Float(validate=validate.Range(min=0))


class WalkSchema(Schema):
    minutes = fields.Integer(required=True, validate=[validate.Range(5, 240)])
    starts = fields.Time(required=True)
    with_ = fields.Email(data_key="with", required=True)
    photo = fields.Url()


api = Api(app)
blp = Blueprint("pets", "pets", url_prefix="/pets", description="Pets")
NUMBERS, PETS = count(1), {}


def put(new, number=None):
    number = number or next(NUMBERS)
    PETS[number] = {**new, "id": number}
    return PETS[number]


for _ in range(5):
    put({"name": "Minka", "species": Species.CAT, "chip": "1" * 15, "weight": 4})


def found(number):
    return PETS.get(number) or abort(404)


@blp.route("/")
class Pets(MethodView):
    @blp.arguments(PetArgsSchema, location="query")
    @blp.response(200, PetSchema(many=True))
    @blp.paginate()
    def get(self, args, pagination_parameters):
        pagination_parameters.item_count = len(PETS)
        return [it for it in PETS.values() if it["species"] in args.get("species", [*Species])]

    @blp.arguments(PetSchema)
    @blp.response(201, PetSchema)
    def post(self, new):
        return put(new)


@blp.route("/<int:pet_id>")
class Pet(MethodView):
    @blp.response(200, PetSchema)
    def get(self, pet_id):
        return found(pet_id)

    @blp.arguments(PetSchema)
    @blp.response(200, PetSchema)
    def put(self, new, pet_id):
        return put(new, found(pet_id)["id"])

    @blp.arguments(PetSchema(partial=True))
    @blp.response(200, PetSchema)
    def patch(self, change, pet_id):
        return put(found(pet_id) | change, pet_id)

    @blp.response(204)
    def delete(self, pet_id):
        del PETS[found(pet_id)["id"]]


@blp.route("/<int:pet_id>/walks", methods=["POST"])
@blp.arguments(WalkSchema)
@blp.response(201, WalkSchema)
def walk(new, pet_id):
    found(pet_id)
    return new


@blp.route("/by-chip/<string(length=15):chip>")
@blp.response(200, PetSchema(many=True))
def by_chip(chip):
    return [it for it in PETS.values() if it["chip"] == chip]


api.register_blueprint(blp)
