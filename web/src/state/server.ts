/** Which server this is and whom it takes us for; asked once and when the connection comes back. */
import { reactive, watch } from 'vue'
import { api } from '@/api/client'
import { link } from '@/live/live'

export const server = reactive({
  version: '' as string,
  who: '' as string,
  project: '' as string,
  admin: false,
  ready: true,
  /** What is wrong, if something is. */
  troubles: [] as string[],
})

export async function look(): Promise<void> {
  const [version, who, ready] = await Promise.allSettled([
    api.get('/api/v1/version'),
    api.get('/api/v1/whoami'),
    fetch('/readyz').then((response) => response.json() as Promise<Record<string, unknown>>),
  ])
  if (version.status === 'fulfilled') server.version = version.value.version
  if (who.status === 'fulfilled') Object.assign(server, { who: who.value.name, project: who.value.project_id, admin: who.value.admin })
  if (ready.status === 'fulfilled') {
    server.ready = ready.value.ready === true
    server.troubles = ['store', 'disk', 'provider'].filter((part) => ready.value[part] === false)
  }
}

watch(
  () => link.state,
  (state) => {
    if (state === 'open') void look()
  },
)
