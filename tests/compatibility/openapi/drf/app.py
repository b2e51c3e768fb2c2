"""A clinic on Django REST Framework with drf-spectacular, in one file, on SQLite."""

import os
from decimal import Decimal

import django
from django.conf import settings

settings.configure(
    SECRET_KEY=os.urandom(16).hex(),
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF="app",
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "clinic.sqlite"}},
    INSTALLED_APPS=[
        *("django.contrib.auth", "django.contrib.contenttypes", "rest_framework"),
        *("django_filters", "drf_spectacular"),
    ],
    USE_TZ=True,
    REST_FRAMEWORK={
        "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
        "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
        "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.PageNumberPagination",
        "DEFAULT_AUTHENTICATION_CLASSES": [],
        "PAGE_SIZE": 10,
    },
    SPECTACULAR_SETTINGS={"TITLE": "Clinic", "VERSION": "1"},
)
django.setup()

from django.core.validators import RegexValidator  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.db import connection, models  # noqa: E402
from django.urls import include, path  # noqa: E402
from drf_spectacular.views import SpectacularAPIView  # noqa: E402
from rest_framework import routers, serializers, viewsets  # noqa: E402
from rest_framework.decorators import action  # noqa: E402
from rest_framework.response import Response  # noqa: E402


class Patient(models.Model):
    name = models.CharField(max_length=60)
    number = models.CharField(max_length=10, validators=[RegexValidator(r"^[A-Z]\d{9}$")])
    born = models.DateField()
    email = models.EmailField(blank=True)

    class Meta:
        app_label = "clinic"


class Visit(models.Model):
    class Kind(models.TextChoices):
        FIRST = "first"
        CONTROL = "control"

    patient = models.ForeignKey(Patient, models.CASCADE, related_name="visits")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    at = models.DateTimeField()
    lasts = models.DurationField(null=True)
    fee = models.DecimalField(max_digits=7, decimal_places=2)
    notes = models.JSONField(default=dict, blank=True)

    class Meta:
        app_label = "clinic"


class PatientSerializer(serializers.ModelSerializer):
    class Meta:
        model = Patient
        fields = "__all__"


class VisitSerializer(serializers.ModelSerializer):
    class Meta:
        model = Visit
        fields = "__all__"


class InvoiceSerializer(serializers.Serializer):
    visits = serializers.ListField(child=serializers.IntegerField(min_value=1), min_length=1)
    discount = serializers.DecimalField(max_digits=4, decimal_places=2, min_value=0, max_value=50)
    due = serializers.DateField(allow_null=True)
    address = serializers.RegexField(r"^[\w .]+, \d{5} [\w ]+$")


class Patients(viewsets.ModelViewSet):
    queryset = Patient.objects.order_by("id")
    serializer_class = PatientSerializer
    filterset_fields = ("born",)


class Visits(viewsets.ModelViewSet):
    queryset = Visit.objects.order_by("id")
    serializer_class = VisitSerializer
    filterset_fields = {"kind": ["exact", "in"], "fee": ["gte", "lte"], "at": ["range"]}

    @action(detail=False, methods=["post"], serializer_class=InvoiceSerializer)
    def invoice(self, request):
        asked = self.get_serializer(data=request.data)
        asked.is_valid(raise_exception=True)
        return Response(asked.data)


with connection.schema_editor() as editor:
    editor.create_model(Patient)
    editor.create_model(Visit)
for number in range(1, 5):
    patient = Patient.objects.create(name=f"P {number}", number="A123456789", born="1980-02-03")
    Visit.objects.create(patient=patient, kind="first", at="2026-01-01T09:00Z", fee=Decimal("80"))

router = routers.DefaultRouter()
router.register("patients", Patients)
router.register("visits", Visits)
urlpatterns = [path("", include(router.urls)), path("schema/", SpectacularAPIView.as_view())]
app = get_wsgi_application()
