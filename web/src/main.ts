import { createApp } from 'vue'
import App from './App.vue'
import './lib/theme'
import { begin } from './live/live'
import { look } from './state/server'
import './style/tokens.css'
import './style/base.css'
import './style/controls.css'
import './style/surfaces.css'
import './style/frame.css'

createApp(App).mount('#app')
void begin()
void look()
