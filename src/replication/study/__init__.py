"""Studies: configurations, readings and calibration."""
