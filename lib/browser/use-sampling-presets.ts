'use client'
import { type OwnPreset, ownPresetsSchema } from '#lib/sampling/presets.ts'
import { type Preference, usePreference } from './preference.ts'

const PRESETS: Preference<readonly OwnPreset[]> = {
  name: 'sampling-presets',
  usual: [],
  read: (stored) => ownPresetsSchema.safeParse(stored).data,
}

/** Returns the user's own presets, which this browser stores. */
export const useSamplingPresets = () => usePreference(PRESETS)
