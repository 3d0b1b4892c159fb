"""The tables and figures of Shirahatti and Barnard 2005 as printed, for a study of one's own."""
