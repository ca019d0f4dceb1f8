/** Tag of the journeys that `npm test` runs on a developer's machine; CI runs all of them (docs/decisions/0060). */
export const CORE = '@core'
