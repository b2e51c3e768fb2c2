"""The services that are tested: PM2 apps, services by URL, a base's check-out.

In: ecosystem.config.js and the settings of a run. Out: processes that answer, one run at a time.
"""
