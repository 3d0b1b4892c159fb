"""The mapping methods of Shirahatti and Barnard 2005 as they were done, reached by name through `mapping.methods`."""
