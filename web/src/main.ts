import App from './App.vue'
import './lib/theme'
import { createApp } from './lib/wall'
import { begin } from './live/live'
import { look } from './state/server'
import './style/tokens.css'
import './style/base.css'
import './style/controls.css'
import './style/surfaces.css'
import './style/frame.css'

const place = document.getElementById('app')
if (place) createApp(App).mount(place)
void begin()
void look()
