//! The six roles. A role is an enum variant, one row of [`ROLES`] and one prompt file;
//! all other code reads the row.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The present role of a chat's agent. It is stored once per chat; mode, permissions, tools, prompt and colours
/// follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Planner,
    Actor,
    Reviewer,
    Commander,
    Designer,
    Tester,
}

/// Whether a role may change anything at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    Plan,
    Act,
}

/// A right that a role has or lacks, and that a tool call may require.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// Read files and folders.
    Read,
    /// Change the content of files that exist.
    Write,
    /// Make new files and folders.
    Create,
    /// Remove files and folders.
    Delete,
    /// Run commands in the sandbox.
    Execute,
    /// Write `.plan` files below `/plans/`.
    Plan,
    /// Hand a task to another role.
    Delegate,
    /// Let helpers read and report.
    Explore,
    /// Hand in a review.
    Review,
    /// Report progress on the approved plan's steps.
    Progress,
}

/// A role's row: everything about it besides its prompt text.
#[derive(Debug)]
pub struct RoleRow {
    pub role: Role,
    /// The name in the configuration, on the wire and in file names.
    pub name: &'static str,
    pub title: &'static str,
    pub mode: Mode,
    pub permissions: &'static [Permission],
    pub delegates_to: &'static [Role],
    pub description: &'static str,
    pub colour: &'static str,
    pub icon: &'static str,
    /// The text of its prompt file. It is included here, so that adding a role touches one place.
    pub prompt: &'static str,
}

use Permission::{Create, Delegate, Delete, Execute, Explore, Plan, Progress, Read, Review, Write};

/// One row per role, in the order people see them.
pub const ROLES: &[RoleRow] = &[
    RoleRow {
        role: Role::Planner,
        name: "planner",
        title: "Planner",
        mode: Mode::Plan,
        permissions: &[Read, Plan, Explore],
        delegates_to: &[],
        description: "Reads and searches the workspace and writes a plan for you to approve. Changes nothing else.",
        colour: "blue",
        icon: "magnifying-glass",
        prompt: include_str!("../../agent/prompts/planner.md"),
    },
    RoleRow {
        role: Role::Actor,
        name: "actor",
        title: "Actor",
        mode: Mode::Act,
        permissions: &[Read, Write, Create, Delete, Execute, Plan, Progress],
        delegates_to: &[],
        description: "Executes the approved plan, and asks before deletions and changes outside it. Without a plan it does what you say.",
        colour: "green",
        icon: "lightning-bolt",
        prompt: include_str!("../../agent/prompts/actor.md"),
    },
    RoleRow {
        role: Role::Reviewer,
        name: "reviewer",
        title: "Reviewer",
        mode: Mode::Plan,
        permissions: &[Read, Review, Explore],
        delegates_to: &[],
        description: "Reads code and answers with findings by file and line. Changes nothing.",
        colour: "purple",
        icon: "eye",
        prompt: include_str!("../../agent/prompts/reviewer.md"),
    },
    RoleRow {
        role: Role::Commander,
        name: "commander",
        title: "Commander",
        mode: Mode::Act,
        permissions: &[Read, Plan, Delegate, Explore, Progress],
        delegates_to: &[Role::Planner, Role::Actor],
        description: "Plans and hands tasks to a Planner or an Actor, with or without an approved plan. Changes no file itself.",
        colour: "amber",
        icon: "compass",
        prompt: include_str!("../../agent/prompts/commander.md"),
    },
    RoleRow {
        role: Role::Designer,
        name: "designer",
        title: "Designer",
        mode: Mode::Act,
        permissions: &[Read, Create, Progress],
        delegates_to: &[],
        description: "Creates new files. Never changes or deletes what exists.",
        colour: "teal",
        icon: "pencil-ruler",
        prompt: include_str!("../../agent/prompts/designer.md"),
    },
    RoleRow {
        role: Role::Tester,
        name: "tester",
        title: "Tester",
        mode: Mode::Act,
        permissions: &[Read, Execute, Progress],
        delegates_to: &[],
        description: "Runs tests in a sandbox where the source is read-only, and reports what it saw.",
        colour: "orange",
        icon: "flask",
        prompt: include_str!("../../agent/prompts/tester.md"),
    },
];

impl Role {
    /// The row of this role.
    #[must_use]
    pub fn row(self) -> &'static RoleRow {
        // The rows have the order of the variants; a test checks it.
        &ROLES[self as usize]
    }

    pub fn all() -> impl Iterator<Item = Role> {
        ROLES.iter().map(|row| row.role)
    }

    #[must_use]
    pub fn mode(self) -> Mode {
        self.row().mode
    }

    #[must_use]
    pub fn has(self, permission: Permission) -> bool {
        self.row().permissions.contains(&permission)
    }

    /// The role with exactly this stored name.
    #[must_use]
    pub fn named(name: &str) -> Option<Role> {
        ROLES.iter().find(|row| row.name == name).map(|row| row.role)
    }
}

impl Mode {
    /// The role for a request that names only a mode.
    #[must_use]
    pub fn default_role(self) -> Role {
        match self {
            Mode::Plan => Role::Planner,
            Mode::Act => Role::Actor,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().title)
    }
}

/// A role in its API form.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RoleView {
    pub role: Role,
    pub title: &'static str,
    pub mode: Mode,
    pub permissions: RolePermissions,
    pub can_delegate_to_roles: &'static [Role],
    pub description: &'static str,
    pub colour: &'static str,
    pub icon: &'static str,
}

/// The five permissions for files and commands, and the one for plans.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "the wire names each right as a field of its own")]
pub struct RolePermissions {
    pub can_read_files: bool,
    pub can_write_files: bool,
    pub can_create_files: bool,
    pub can_delete_files: bool,
    pub can_execute_commands: bool,
    pub can_write_plans: bool,
}

impl From<Role> for RoleView {
    fn from(role: Role) -> Self {
        let row = role.row();
        RoleView {
            role,
            title: row.title,
            mode: row.mode,
            permissions: RolePermissions {
                can_read_files: role.has(Read),
                can_write_files: role.has(Write),
                can_create_files: role.has(Create),
                can_delete_files: role.has(Delete),
                can_execute_commands: role.has(Execute),
                can_write_plans: role.has(Plan),
            },
            can_delegate_to_roles: row.delegates_to,
            description: row.description,
            colour: row.colour,
            icon: row.icon,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_role_has_one_row_in_the_order_of_the_enum() {
        for (index, row) in ROLES.iter().enumerate() {
            assert_eq!(row.role as usize, index, "{} is out of order", row.name);
            assert_eq!(Role::named(row.name), Some(row.role));
            assert_eq!(serde_json::to_value(row.role).unwrap(), row.name);
        }
    }

    #[test]
    fn permissions_of_each_role_are_those_of_the_source_table() {
        let rights = |role: Role| {
            let p = RoleView::from(role).permissions;
            [p.can_read_files, p.can_write_files, p.can_create_files, p.can_delete_files, p.can_execute_commands]
        };
        assert_eq!(rights(Role::Planner), [true, false, false, false, false]);
        assert_eq!(rights(Role::Actor), [true, true, true, true, true]);
        assert_eq!(rights(Role::Reviewer), [true, false, false, false, false]);
        assert_eq!(rights(Role::Commander), [true, false, false, false, false]);
        assert_eq!(rights(Role::Designer), [true, false, true, false, false]);
        assert_eq!(rights(Role::Tester), [true, false, false, false, true]);
        assert_eq!(Role::Commander.row().delegates_to, [Role::Planner, Role::Actor]);
    }

    #[test]
    fn no_role_of_plan_mode_may_change_or_run_anything() {
        for role in Role::all().filter(|role| role.mode() == Mode::Plan) {
            for permission in [Write, Create, Delete, Execute, Delegate] {
                assert!(!role.has(permission), "{role} has {permission:?}");
            }
        }
    }
}
