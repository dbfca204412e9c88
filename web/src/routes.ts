/** Every view on one screen: its path, its place in the rail, and the file that is loaded when it is opened. */
import {
  BookOpen, Box, ChartGantt, CircleDollarSign, Gauge, GitFork, Hand, LayoutGrid, List, ScrollText, Settings, Shield,
  TriangleAlert, Waypoints, Wrench,
} from '@lucide/vue'
import type { Component } from 'vue'

export interface Route {
  /** `:name` matches one part of the path. */
  path: string
  title: string
  view: () => Promise<{ default: Component }>
  /** Where it stands in the rail; views without are reached from others. */
  rail?: { section: 'Now' | 'Work' | 'Insight' | 'Guard' | 'Foot'; icon: Component; key: string }
  /** The view it belongs to, for the rail and the way back. */
  under?: string
  /** Whether another name is another thing: nothing of the one shown before stays, no shell and no file. */
  single?: boolean
  /** Whether the page's range of time means something here. */
  timed?: boolean
  /** How long a range it shows unless another is chosen. */
  span?: '24h'
}

export const routes: readonly Route[] = [
  { path: '/', title: 'Fleet', view: () => import('./views/Fleet.vue'), rail: { section: 'Now', icon: LayoutGrid, key: 'f' }, timed: true },
  { path: '/approvals', title: 'Approvals', view: () => import('./views/Approvals.vue'), rail: { section: 'Now', icon: Hand, key: 'a' } },
  { path: '/approvals/:id', title: 'Approvals', view: () => import('./views/Approvals.vue'), under: '/approvals' },
  { path: '/events', title: 'Events', view: () => import('./views/Events.vue'), rail: { section: 'Now', icon: List, key: 'e' }, timed: true },
  { path: '/timeline', title: 'Timeline', view: () => import('./views/Timeline.vue'), rail: { section: 'Now', icon: ChartGantt, key: 't' }, timed: true },
  { path: '/sessions', title: 'Sessions', view: () => import('./views/Sessions.vue'), rail: { section: 'Work', icon: BookOpen, key: 's' }, timed: true, span: '24h' },
  { path: '/sessions/:id', title: 'Session', view: () => import('./views/Session.vue'), under: '/sessions', single: true },
  { path: '/sessions/:id/trace', title: 'Trace', view: () => import('./views/Trace.vue'), under: '/sessions', single: true },
  { path: '/runs', title: 'Runs', view: () => import('./views/Runs.vue'), rail: { section: 'Work', icon: GitFork, key: 'r' } },
  { path: '/runs/:id', title: 'Run', view: () => import('./views/Run.vue'), under: '/runs', single: true },
  { path: '/sandboxes', title: 'Sandboxes', view: () => import('./views/Sandboxes.vue'), rail: { section: 'Work', icon: Box, key: 'b' } },
  { path: '/sandboxes/:id', title: 'Sandbox', view: () => import('./views/Sandbox.vue'), under: '/sandboxes', single: true },
  { path: '/graph', title: 'Graph', view: () => import('./views/Graph.vue'), rail: { section: 'Work', icon: Waypoints, key: 'o' }, timed: true },
  { path: '/agents', title: 'Agents', view: () => import('./views/Agents.vue'), rail: { section: 'Insight', icon: Gauge, key: 'm' }, timed: true, span: '24h' },
  { path: '/tools', title: 'Tools', view: () => import('./views/Tools.vue'), rail: { section: 'Insight', icon: Wrench, key: 'w' }, timed: true },
  { path: '/errors', title: 'Errors', view: () => import('./views/Errors.vue'), rail: { section: 'Insight', icon: TriangleAlert, key: 'x' }, timed: true, span: '24h' },
  { path: '/cost', title: 'Cost', view: () => import('./views/Cost.vue'), rail: { section: 'Insight', icon: CircleDollarSign, key: 'c' } },
  { path: '/guardian', title: 'Guardian', view: () => import('./views/Guardian.vue'), rail: { section: 'Guard', icon: Shield, key: 'u' } },
  { path: '/audit', title: 'Audit', view: () => import('./views/Audit.vue'), rail: { section: 'Guard', icon: ScrollText, key: 'l' }, timed: true, span: '24h' },
  { path: '/settings', title: 'Settings', view: () => import('./views/Settings.vue'), rail: { section: 'Foot', icon: Settings, key: ',' } },
  { path: '/welcome', title: 'First run', view: () => import('./views/Welcome.vue') },
]

export const phoneTabs = ['/', '/approvals', '/events', '/cost'] as const

/** The route of a path, with what stands for its names. */
export function match(path: string): { route: Route; names: Record<string, string> } | null {
  const parts = path.split('/')
  for (const route of routes) {
    const wanted = route.path.split('/')
    if (wanted.length !== parts.length) continue
    const names: Record<string, string> = {}
    const fits = wanted.every((part, at) => {
      const given = parts[at] ?? ''
      if (!part.startsWith(':')) return part === given
      names[part.slice(1)] = decode(given)
      return given !== ''
    })
    if (fits) return { route, names }
  }
  return null
}

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
