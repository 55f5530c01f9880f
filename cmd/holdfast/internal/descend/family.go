//go:build unix

package descend

// A Family is what descends from a command, as far as it has become a child of the process that adopts orphans.
type Family struct {
	Parent int // who adopts
	Spare  int // a child that is not of the family; zero for none
	Group  int // of the command

	// Mark is a variable, as NAME=VALUE, in the environment of the command and of what descends from it, where others
	// than those may be among the children of the parent. Empty, all children are of the family.
	Mark string
}

// Over reports whether nothing of a command lives: nothing of its group, and nothing that has left that. What has left
// it is found only when its parent has ended. That parent may be of the group, so the group is looked at first: else it
// might end between the two looks, and neither would be found. Or it has left the group, too, and ends while processes
// are read one after the other, so they are read twice.
func Over(groupLives, leftLives func() bool) bool {
	group := groupLives()
	left := leftLives()
	return !group && !left && !leftLives()
}
