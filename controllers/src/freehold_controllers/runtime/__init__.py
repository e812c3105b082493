"""The controllers' runtime: from changes of resources, by way of a keyed queue, to calls of a reconciler."""
