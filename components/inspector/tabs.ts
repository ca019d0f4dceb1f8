import dynamic from 'next/dynamic'
import type { ComponentType } from 'react'
import type { InspectorPartProps, InspectorTab } from './inspection.ts'

/** The tabs of the inspector besides Tokens, in their order. Each is loaded when it is first shown. */
export const OTHER_TABS: Readonly<Record<Exclude<InspectorTab, 'tokens'>, ComponentType<InspectorPartProps>>> = {
  messages: dynamic(async () => (await import('#components/inspector/messages/messages-tab.tsx')).MessagesTab, {
    loading: () => null,
  }),
  requests: dynamic(async () => (await import('#components/inspector/requests/requests-tab.tsx')).RequestsTab, {
    loading: () => null,
  }),
  charts: dynamic(async () => (await import('#components/inspector/charts/charts-tab.tsx')).ChartsTab, {
    loading: () => null,
  }),
  trainer: dynamic(async () => (await import('#components/inspector/trainer/trainer-tab.tsx')).TrainerTab, {
    loading: () => null,
  }),
  raw: dynamic(async () => (await import('#components/inspector/raw/raw-tab.tsx')).RawTab, { loading: () => null }),
}
