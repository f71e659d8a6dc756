/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The normal distribution and Student's t: how much lies below a value, and
 * below which value a share lies. To 9 digits.
 */
#ifndef DISTRIBUTION_H
#define DISTRIBUTION_H

double normal_cdf(double z);
double normal_quantile(double share); /* of 0 < share < 1 */

/* degrees: above 0; from 10^6 on it is the normal distribution. */
double student_cdf(double t, double degrees);
double student_quantile(double share, double degrees);

#endif
