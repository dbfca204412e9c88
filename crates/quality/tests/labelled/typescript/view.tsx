import { useState } from "react";

export function Panel(props: { name: string; kind: "a" | "b" }) {
  const [open, setOpen] = useState(false); // fine: CoP
  if (props.kind === "a") { // fine: CoM
    return <div onClick={() => setOpen(!open)}>{props.name}</div>;
  }
  setTimeout(() => setOpen(false), 300); // fine: CoTm
  return <span className="quiet">{open ? "yes" : "no"}</span>;
}

export function Row(props: { cells: any }) { // flag: CoT any-type
  return <tr>{props.cells}</tr>;
}
