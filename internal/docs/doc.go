// Package docs holds what the documentation says to the tree that it is about.
package docs
