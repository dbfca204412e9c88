/**
 * For libraries that write `<style>` elements, which our content policy refuses.
 *
 * What they put into one goes into a constructed style sheet instead, which is the same to the page and needs no
 * exception for anything an attacker could write.
 */

/** Stands in for a style element. */
function standIn(create: typeof document.createElement): HTMLElement {
  const element = create('template')
  const sheet = new CSSStyleSheet()
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
  let written = ''
  Object.defineProperty(element, 'textContent', {
    get: () => written,
    set: (css: string) => {
      written = css
      sheet.replaceSync(css)
    },
  })
  const remove = element.remove.bind(element)
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet)
    remove()
  }
  return element
}

/** Does something during which every style element that is made is one that the policy allows. */
export function strictly(act: () => void): void {
  const create = document.createElement.bind(document)
  document.createElement = ((name: string, options?: ElementCreationOptions) =>
    name.toLowerCase() === 'style' ? standIn(create) : create(name, options)) as typeof document.createElement
  try {
    act()
  } finally {
    // What lies below is the document's own again.
    delete (document as Partial<Document>).createElement
  }
}
