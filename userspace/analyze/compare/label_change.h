/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Labels that one side lacks. A vanished and a new one are perhaps one that was
 * renamed when they are as frequent, as long, below the same parent and call
 * the same children.
 */
#ifndef LABEL_CHANGE_H
#define LABEL_CHANGE_H

#include "analyze/compare/comparison.h"

int label_changes_find(struct comparison *comparison); /* 0 or -ENOMEM */

#endif
