"""Log in and out, and passwords: Django's own views at our addresses, in our look (``templates/registration``)."""

from django.contrib.auth import views
from django.contrib.messages.views import SuccessMessageMixin
from django.urls import path, reverse_lazy
from django.utils.translation import gettext_lazy as _

from aicontrol.logins import FewMails

HOME = reverse_lazy("capture:checks")


class PasswordChange(SuccessMessageMixin, views.PasswordChangeView):  # type: ignore[type-arg]  # generic in the type checker only
    template_name = "registration/password_change.html"  # the usual name is that of the admin's own page
    success_url = HOME
    success_message = _("Your password is changed.")


class PasswordSet(SuccessMessageMixin, views.PasswordResetConfirmView):  # type: ignore[type-arg]  # as above
    """What the link of a mail opens: of an invitation, or because a password was forgotten."""

    success_url = HOME
    success_message = _("Your password is set, and you are logged in.")
    post_reset_login = True
    post_reset_login_backend = "aicontrol.logins.AnyCase"


_reset = views.PasswordResetView.as_view(form_class=FewMails)

urlpatterns = [
    path("login/", views.LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("logout/", views.LogoutView.as_view(), name="logout"),
    path("password/", PasswordChange.as_view(), name="password_change"),
    path("password/forgotten/", _reset, name="password_reset"),
    path("password/forgotten/", _reset, name="admin_password_reset"),  # Django's admin links to it if it is there
    path("password/mailed/", views.PasswordResetDoneView.as_view(), name="password_reset_done"),
    path("password/set/<uidb64>/<token>/", PasswordSet.as_view(), name="password_reset_confirm"),
]
