"""DUAL and the views of the catalogue that tell which tables there are."""

from __future__ import annotations

from racwire_lab.oracle_sql.dictionary import View, define

_TABLE = "TABLE_NAME V128, TABLESPACE_NAME V30, STATUS V8"
_VIEW = "VIEW_NAME V128, TEXT_LENGTH N"
_OBJECT = "OBJECT_NAME V128, SUBOBJECT_NAME V128, OBJECT_ID N, OBJECT_TYPE V23, STATUS V7"
_PRIVILEGE = "GRANTEE V128, OWNER V128, TABLE_NAME V128, GRANTOR V128, PRIVILEGE V40, GRANTABLE V3"

VIEWS: tuple[View, ...] = (
    define("DUAL", "DUMMY V1", is_public=True),
    define("ALL_TABLES", f"OWNER V128, {_TABLE}", is_public=True),
    define("ALL_VIEWS", f"OWNER V128, {_VIEW}", is_public=True),
    define("ALL_OBJECTS", f"OWNER V128, {_OBJECT}", is_public=True),
    define("ALL_TAB_COLUMNS", "OWNER V128, TABLE_NAME V128, COLUMN_NAME V128, COLUMN_ID N", is_public=True),
    define("USER_TABLES", _TABLE, is_public=True),
    define("USER_VIEWS", _VIEW, is_public=True),
    define("USER_OBJECTS", _OBJECT, is_public=True),
    define("USER_TAB_PRIVS", _PRIVILEGE, is_public=True),
    define("SESSION_PRIVS", "PRIVILEGE V40", is_public=True),
    define("SESSION_ROLES", "ROLE V128", is_public=True),
    define("USER_USERS", "USERNAME V128, USER_ID N, ACCOUNT_STATUS V32, CREATED D", is_public=True),
)
