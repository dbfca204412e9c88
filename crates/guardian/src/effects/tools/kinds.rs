//! What sort of tool a name is, whichever agent uses it.

use super::fields::Fields;

/// A sort of tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Runs a command.
    Shell,
    /// Reads files.
    Read,
    /// Searches contents.
    Search,
    /// Lists names.
    Look,
    /// Replaces files.
    Write,
    /// Changes parts of files.
    Edit,
    /// Removes files.
    Delete,
    /// Moves files.
    Move,
    /// Makes directories.
    Make,
    /// Shows a path of the host to a sandbox.
    Mount,
    /// Changes several files by a patch.
    Patch,
    /// Fetches a page.
    Fetch,
    /// Starts an agent.
    Spawn,
    /// Ends what the agent itself began.
    Own,
    /// Arranges something for later.
    Later,
    /// Touches nothing.
    Harmless,
    /// Nobody knows.
    Foreign,
}

/// The names, in lower case and without `_`, `-` and `.`.
const NAMES: &[(Kind, &[&str])] = &[
    (Kind::Mount, &["sandboxmount"]),
    (
        Kind::Shell,
        &[
            "bash",
            "shell",
            "localshell",
            "execcommand",
            "runshellcommand",
            "runterminalcmd",
            "containerexec",
            "unifiedexec",
            "powershell",
            "executecommand",
            "terminal",
            "runcommand",
            "runinterminal",
            "execute",
            "writestdin",
            "monitor",
            "shellcommand",
            "exec",
            "sh",
            "zsh",
            "runterminalcommand",
            "commandexecution",
        ],
    ),
    (
        Kind::Read,
        &[
            "read",
            "readfile",
            "readmanyfiles",
            "view",
            "viewimage",
            "notebookread",
            "cat",
            "openfile",
            "viewfile",
            "readfiles",
            "readimage",
        ],
    ),
    (
        Kind::Search,
        &[
            "grep",
            "searchfilecontent",
            "grepsearch",
            "searchfiles",
            "search",
            "codesearch",
            "ripgrep",
            "searchtext",
            "grepfiles",
        ],
    ),
    (
        Kind::Look,
        &[
            "glob",
            "ls",
            "list",
            "listdirectory",
            "listdir",
            "listfiles",
            "findfiles",
            "filesearch",
            "globfilesearch",
            "findbyname",
            "readfolder",
        ],
    ),
    (Kind::Write, &["write", "writefile", "createfile", "create", "savefile", "writetofile", "newfile"]),
    (
        Kind::Edit,
        &[
            "edit",
            "multiedit",
            "notebookedit",
            "replace",
            "editfile",
            "strreplace",
            "searchreplace",
            "insert",
            "editnotebook",
            "replaceinfile",
            "applydiff",
            "insertcontent",
            "replacefilecontent",
            "multireplacefilecontent",
            "smartedit",
        ],
    ),
    (Kind::Delete, &["deletefile", "removefile", "delete"]),
    (Kind::Move, &["movefile", "renamefile", "move", "rename"]),
    (Kind::Make, &["createdirectory", "mkdir"]),
    (Kind::Patch, &["applypatch", "patch"]),
    (Kind::Fetch, &["webfetch", "fetch", "fetchurl", "readurl", "openurl", "browse", "readurlcontent"]),
    (
        Kind::Spawn,
        &[
            "task",
            "agent",
            "spawnagent",
            "delegate",
            "newtask",
            "dispatchagent",
            "subagent",
            "codebaseinvestigator",
        ],
    ),
    (Kind::Own, &["killshell", "killbash", "taskstop", "closeagent", "interruptagent"]),
    (Kind::Later, &["croncreate", "scheduletask", "createscheduledtask", "remotetrigger"]),
    (
        Kind::Harmless,
        &[
            "todowrite",
            "todoread",
            "exitplanmode",
            "enterplanmode",
            "askuserquestion",
            "bashoutput",
            "taskoutput",
            "skill",
            "slashcommand",
            "listmcpresources",
            "listmcpresourcestool",
            "readmcpresource",
            "readmcpresourcetool",
            "toolsearch",
            "updateplan",
            "savememory",
            "structuredoutput",
            "websearch",
            "googlewebsearch",
            "lsp",
            "cronlist",
            "crondelete",
            "taskcreate",
            "taskupdate",
            "tasklist",
            "taskget",
            "sendmessage",
            "requestuserinput",
            "think",
            "memory",
            "readlints",
            "fetchrules",
            "attemptcompletion",
            "askfollowupquestion",
            "writetodos",
            "todo",
            "question",
            "plan",
            "codebasesearch",
            "listcodedefinitionnames",
            "enterworktree",
            "exitworktree",
            "schedulewakeup",
            "agentoutput",
            "agentoutputtool",
            "wait",
            "sendinput",
            "resumeagent",
            "teamcreate",
            "teamdelete",
            "batch",
            "invalid",
            "advisor",
            "brief",
            "sleep",
            "getdiagnostics",
            "notify",
            "pushnotification",
            "activateskill",
            "askuser",
            "completetask",
            "planexit",
            "planenter",
            "imagegeneration",
            "finish",
        ],
    ),
];

/// Says what sort a tool is.
pub(super) fn of(tool: &str, fields: &Fields<'_>) -> Kind {
    let name: String =
        tool.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect();
    // One tool with several verbs in its command, none of them a shell's.
    if matches!(name.as_str(), "strreplaceeditor" | "strreplacebasededittool" | "texteditor" | "memory")
        || name.starts_with("texteditor")
    {
        return match fields.text(&["command"]) {
            Some("view") => Kind::Read,
            Some("create") => Kind::Write,
            Some("delete") => Kind::Delete,
            Some("rename") => Kind::Move,
            _ => Kind::Edit,
        };
    }
    // Another server's shell is a shell.
    let last = tool.rsplit("__").next().unwrap_or(tool).to_ascii_lowercase();
    let is_shell = ["process", "exec", "command", "shell", "terminal", "bash", "run_script"];
    if tool.contains("__")
        && (last == "run" || is_shell.iter().any(|word| last.contains(word)))
        && ["command", "cmd"].iter().any(|field| fields.input.get(*field).is_some())
    {
        return Kind::Shell;
    }
    if tool.starts_with("mcp__") || tool.starts_with("mcp_") || tool.contains("__") {
        return Kind::Foreign;
    }
    NAMES.iter().find(|(_, names)| names.contains(&name.as_str())).map_or_else(
        || {
            let command = fields.input.get("command").or_else(|| fields.input.get("cmd"));
            if command.is_some() { Kind::Shell } else { Kind::Foreign }
        },
        |(kind, _)| *kind,
    )
}
