// Functions whose parameters their type has chosen.
type Renderer = (page: string, title: string, text: string, note: string) => string;

const plain: Renderer = (page, title, text, note) => page + title + text + note; // fine: CoP

const spelled = (page: string, title: string, text: string, note: string) => page; // flag: CoP many-positional

class Views {
  render: Renderer = (page, title, text, note) => page; // fine: CoP

  draw(page: string, title: string, text: string, note: string) { // flag: CoP many-positional
    return page + title + text + note;
  }
}

const isEmpty = (name: string) => { // flag: CoA clone
  if (name !== "") {
    return false;
  }
  return true;
};

const isBlank = (text: string) => { // flag: CoA clone
  if (text !== "") {
    return false;
  }
  return true;
};

export { plain, spelled, Views, isEmpty, isBlank };
