"""File formats: CSV, JSON, Parquet, data frames, study archives, and exports of annotation and survey tools.

Other rooms use `table_files`, `dataframe_libraries`, `row_filters`, `study_archive` and `tools`; the rest is inside.
"""
