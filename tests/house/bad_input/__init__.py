"""Every public callable against every kind of bad argument."""
