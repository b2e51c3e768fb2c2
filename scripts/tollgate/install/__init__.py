"""What pip does not bring: JMeter with its plugins, PM2 and other Node packages.

In: pom.xml, package-lock.json and checksums. Out: tools in the cache, ready to run.
"""
