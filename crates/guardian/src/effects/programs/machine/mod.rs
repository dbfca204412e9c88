//! Programs that change the machine itself: what runs on it, its power, accounts, kernel, network and timers.

mod power;
pub(super) mod processes;
mod schedule;
mod services;
mod settings;

use super::Program;

/// The program of this family with a name.
pub(super) fn family(name: &str) -> Option<Program> {
    Some(match name {
        "kill" | "skill" | "snice" | "xkill" => processes::kill,
        "pkill" | "killall" | "killall5" | "slay" => processes::by_name,
        "fuser" => processes::fuser,
        "pgrep" | "pidof" | "ps" => processes::listed,
        "gnome-session-quit"
        | "xfce4-session-logout"
        | "mate-session-save"
        | "lxqt-leave"
        | "openrc-shutdown"
        | "swaymsg"
        | "i3-msg"
        | "hyprctl"
        | "bspc"
        | "shutdown"
        | "shutdown.exe"
        | "reboot"
        | "halt"
        | "poweroff"
        | "init"
        | "telinit"
        | "kexec"
        | "rtcwake"
        | "pmset"
        | "pm-suspend"
        | "pm-hibernate"
        | "systemd-sleep"
        | "Stop-Computer"
        | "Restart-Computer"
        | "dbus-send"
        | "busctl"
        | "gdbus"
        | "qdbus"
        | "osascript" => power::outcome,
        "systemctl" | "service" | "rc-service" | "rc-update" | "update-rc.d" | "chkconfig" | "launchctl"
        | "loginctl" | "initctl" | "sv" | "supervisorctl" | "journalctl" | "machinectl" | "sc" | "net"
        | "brew-services" => services::outcome,
        "crontab"
        | "at"
        | "batch"
        | "anacron"
        | "systemd-run"
        | "schtasks"
        | "reg"
        | "update-alternatives"
        | "pm2"
        | "fcrontab"
        | "atrm"
        | "incrontab" => schedule::outcome,
        name if settings::knows(name) => settings::outcome,
        _ => return None,
    })
}
