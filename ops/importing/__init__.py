"""Reading a folder of Markdown files as pages, and following the links between them."""
