/** Runs in the browser before any other module of the application. */
import * as z from 'zod/mini'

// By default, Zod tries to compile its checks with eval, which the content security policy forbids and reports.
z.config({ jitless: true })
