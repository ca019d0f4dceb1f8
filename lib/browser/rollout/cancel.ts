import { callApi } from '../api.ts'

/** Stops a running rollout, or all running samples of a group. Resolves when they have ended. Throws ApiError. */
export async function requestCancel(what: 'rollouts' | 'groups', id: string): Promise<void> {
  await callApi(`/api/${what}/${encodeURIComponent(id)}/cancel`, { method: 'POST' })
}
