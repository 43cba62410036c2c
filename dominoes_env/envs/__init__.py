"""The environments: each translates a Table into one API's words and holds no rule. Import the file that you want."""
