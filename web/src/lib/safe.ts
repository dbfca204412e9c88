/**
 * Agents' text is data, and hostile: what would act on a reader, or deceive one, becomes a visible sign.
 *
 * Control characters show as their pictures, what turns the direction of writing or is invisible by its name, and a
 * line is cut in the middle, since both ends of a command matter.
 */

const NAMES: Record<number, string> = {
  0x061c: 'ALM', 0x200b: 'ZWSP', 0x200e: 'LRM', 0x200f: 'RLM', 0x2028: 'LS', 0x2029: 'PS', 0x202a: 'LRE', 0x202b: 'RLE', 0x202c: 'PDF',
  0x202d: 'LRO', 0x202e: 'RLO', 0x2060: 'WJ', 0x2066: 'LRI', 0x2067: 'RLI', 0x2068: 'FSI', 0x2069: 'PDI', 0xfeff: 'BOM', 0x00ad: 'SHY',
  0x034f: 'CGJ', 0x115f: 'HF', 0x1160: 'HF', 0x3164: 'HF', 0x180e: 'MVS',
}
// eslint-disable-next-line no-control-regex
const ODD = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\u3164\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/gu

function sign(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  if (code === 0x7f) return '␡'
  if (code >= 0xd800 && code <= 0xdfff) return '�'
  const name = NAMES[code] ?? `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
  return `⟨${name}⟩`
}

/** A text in which nothing acts; lines and tabs stay. More than three marks on one letter are left out. */
export function harmless(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(ODD, sign).replace(/(\p{M}{3})\p{M}+/gu, '$1')
}

/** The same on one line. */
export const oneLine = (text: string): string => harmless(text.replace(/\s*[\r\n]+\s*/g, ' ⏎ ').replace(/\t/g, ' '))

/** At most so many characters, cut in the middle. */
export function clamp(text: string, most: number): string {
  if (text.length <= most) return text
  const tail = Math.floor(most * 0.4)
  return `${text.slice(0, most - tail - 1)}…${text.slice(-tail)}`
}

/** What a piece of agents' text shows on one line: short enough to lay out, whatever came in. */
export const brief = (text: string | null | undefined, most = 400): string => {
  if (!text) return ''
  // What is far beyond the limit is never looked at: a megabyte costs as much as a line.
  const near = text.length > most * 4 ? `${text.slice(0, most * 2)}…${text.slice(-most)}` : text
  return clamp(oneLine(near), most)
}
