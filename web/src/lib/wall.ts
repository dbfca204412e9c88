/**
 * The last wall before the document: whatever a component shows as words, in a text or in an attribute that is read
 * aloud or on hover, acts on nobody.
 *
 * Owns: the way every text node and every spoken attribute is written. Refuses: cutting to length and keeping a text
 * apart from its neighbours, which only the place that shows it can do (`SafeText`, `brief`).
 */
import { createRenderer, nodeOps, patchProp, type App, type Component } from 'vue'
import { harmless } from './safe'

/** A layout of megabytes helps nobody. */
const MOST = 300_000
const SPOKEN = /^(?:title|alt|label|placeholder|aria-.+)$/

const shown = (words: string): string => harmless(words.length > MOST ? `${words.slice(0, MOST)}…` : words)
const spoken = (key: string, value: unknown): unknown => (typeof value === 'string' && SPOKEN.test(key) ? shown(value) : value)

const renderer = createRenderer<Node, Element>({
  ...nodeOps,
  createText: (words) => nodeOps.createText(shown(words)),
  setText: (node, words) => nodeOps.setText(node, shown(words)),
  setElementText: (element, words) => nodeOps.setElementText(element, shown(words)),
  patchProp: (element, key, before, after, ...more) => patchProp(element, key, spoken(key, before), spoken(key, after), ...more),
})

/** An app all of whose words go through the wall. */
export const createApp = (root: Component): App<Element> => renderer.createApp(root)
