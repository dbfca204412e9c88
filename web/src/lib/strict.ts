/**
 * A document for libraries that write `<style>` elements, which our content policy refuses.
 *
 * What they put into one goes into a constructed style sheet instead, which is the same to the page and needs no
 * exception for anything an attacker could write.
 */
export function strictDocument(): Document {
  const create = (name: string): HTMLElement => {
    const element = document.createElement(name)
    if (name.toLowerCase() !== 'style') return element
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
  return new Proxy(document, {
    get(target, name) {
      if (name === 'createElement') return create
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}
