// Package released gets and uses the modules of this tree as somebody else would, once they are released.
package released
