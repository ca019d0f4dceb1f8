'use client'
import { type Preference, usePreference } from '#lib/client/preference.ts'
import { type OwnPreset, ownPresetsSchema } from '#lib/settings/sampling-presets.ts'

const PRESETS: Preference<readonly OwnPreset[]> = {
  name: 'sampling-presets',
  usual: [],
  read: (kept) => ownPresetsSchema.safeParse(kept).data,
}

/** The user's own, kept in this browser. */
export const useSamplingPresets = () => usePreference(PRESETS)
