"""Writers: reports and their blocks as files and text of one format each."""
