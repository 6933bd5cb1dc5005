from ._linear_descent import linear_descent as linear_descent
